/** The largest or smallest ratio that meets a goal. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** A measured figure, and its ratio to a baseline of the same run. */
export interface Figure {
  readonly what: string
  readonly figure: string
  readonly ratio: number
  /** The baseline. */
  readonly to: string
  readonly goal: Goal
}

export interface Measured extends Figure {
  readonly bench: string
  readonly met: boolean
}

/** Everything that this run has measured. */
export const measured: Measured[] = []
let bench = ''

/** Runs a bench, whose figures get its name. */
export async function runBench(name: string, run: () => Promise<boolean>): Promise<boolean> {
  bench = name
  console.log(`\n${name}`)
  return run()
}

/** Notes and prints a figure. Returns whether its goal was met. */
export function row(figure: Figure): boolean {
  const { what, ratio, to, goal } = figure
  const met = 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
  measured.push({ ...figure, bench, met })
  const text = `${ratio.toFixed(2)}x ${to}, goal ${goalText(goal)}: ${met ? 'met' : 'MISSED'}`
  console.log(`  ${what.padEnd(60)} ${figure.figure.padStart(12)}  ${text}`)
  return met
}

/** Prints a figure without a goal. */
export function fact(what: string, figure: string): void {
  console.log(`  ${what.padEnd(60)} ${figure}`)
}

export function goalText(goal: Goal): string {
  return 'atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`
}

/** Runs the parts of a bench that were asked for, or all. Returns whether all goals were met. */
export async function parts(
  wanted: readonly string[],
  all: { readonly [name: string]: () => boolean | Promise<boolean> },
): Promise<boolean> {
  let met = true
  for (const [name, part] of Object.entries(all))
    if (wanted.length === 0 || wanted.includes(name)) met = (await part()) && met
  return met
}
