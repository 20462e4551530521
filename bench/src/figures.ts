/** The largest or smallest ratio that meets a goal. */
export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** The ratio of a figure to a baseline of the same run, and the goal for it. */
export interface Comparison {
  readonly ratio: number
  /** The baseline. */
  readonly to: string
  readonly goal: Goal
}

export const atMost = (most: number, ratio: number, to: string): Comparison => ({
  ratio,
  to,
  goal: { atMost: most },
})

export const atLeast = (least: number, ratio: number, to: string): Comparison => ({
  ratio,
  to,
  goal: { atLeast: least },
})

export interface Measured extends Comparison {
  readonly bench: string
  readonly what: string
  readonly figure: string
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
export function row(what: string, figure: string, comparison: Comparison): boolean {
  const { ratio, to, goal } = comparison
  const met = 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
  measured.push({ ...comparison, bench, what, figure, met })
  const text = `${ratio.toFixed(2)}x ${to}, goal ${goalText(goal)}: ${met ? 'met' : 'MISSED'}`
  console.log(`  ${what.padEnd(60)} ${figure.padStart(12)}  ${text}`)
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
