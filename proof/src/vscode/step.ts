import { errors, rejections } from './frame.ts'
import type { Stage } from './stage.ts'

/** A step of the drive: a user's action in the workbench, and what must follow. It throws if it fails. */
export interface Step {
  readonly name: string
  /** `mark`: the number of frames when the step began. */
  run(stage: Stage, mark: number): Promise<void>
}

export interface Outcome {
  readonly name: string
  readonly seconds: number
  /** The reason of a failure. */
  readonly failure?: string
  /** Requests that the host answered with an error, and actions that it rejected. */
  readonly refused: readonly string[]
}

/** Runs one step, takes a picture of every window, and returns the outcome. */
export async function play(step: Step, stage: Stage, number: number): Promise<Outcome> {
  const { name } = step
  const began = performance.now()
  const mark = stage.tap.mark
  let failure: string | undefined
  try {
    await step.run(stage, mark)
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  }
  const seconds = Math.round((performance.now() - began) / 100) / 10
  const prefix = `${String(number).padStart(2, '0')}-${name.replaceAll(/\W+/g, '-')}`
  for (const window of stage.windows)
    await window.picture(`${stage.out}/${prefix}${window === stage.windows[0] ? '' : `-${window.name}`}.png`)
  // A step that failed may leave a menu or a dialog open, which would cover the next step.
  if (failure !== undefined) for (let i = 0; i < 3; i++) await stage.window.page.keyboard.press('Escape')
  const frames = stage.tap.frames.slice(mark)
  return {
    name,
    seconds,
    refused: [...errors(frames), ...rejections(frames)],
    ...(failure !== undefined && { failure }),
  }
}
