import { Failure } from './failure.ts'
import type { Cell } from './matrix.ts'
import { handedOver } from './scenes.ts'
import type { Scene } from './scenes.ts'
import { Stage } from './stage.ts'
import type { Player } from './stage.ts'
import { Talk } from './talk.ts'

export interface Driving {
  /** Leaves the folder of each scene where it is. */
  readonly keep?: boolean
  /** How long anything may take that has to happen, in milliseconds. */
  readonly patience?: number
  readonly tell?: (sentence: string) => void
}

/** Plays one scene with one agent, on a host of its own. */
export async function drive(player: Player, scene: Scene, driving: Driving = {}): Promise<Cell> {
  const { keep = false, patience = 120_000, tell = () => {} } = driving
  const began = performance.now()
  const stage = new Stage(player, patience)
  if (keep) tell(`${player.provider} is in ${stage.folder}`)
  let talk: Talk | undefined
  const cell = (end: Pick<Cell, 'outcome' | 'reason'>): Cell => ({
    ...end,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    sights: talk?.sights.lines() ?? [],
  })
  try {
    await stage.rise()
    talk = await Talk.begin(stage)
    const turn = await scene(stage, talk)
    await talk.rest()
    await stage.end()
    return cell({ outcome: handedOver(turn) ? 'handed over' : 'passed' })
  } catch (error) {
    if (!(error instanceof Failure))
      tell(error instanceof Error ? (error.stack ?? error.message) : String(error))
    if (stage.said !== '') tell(`the host said: ${stage.said.trim()}`)
    return cell({ outcome: 'failed', reason: error instanceof Error ? error.message : String(error) })
  } finally {
    await stage.clear(keep)
  }
}
