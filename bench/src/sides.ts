import { median } from './percentiles.ts'

/**
 * Measures all sides of a comparison in turns, so that other load on the machine affects all alike. The first `warm`
 * rounds do not count.
 */
export async function inTurns<Name extends string>(
  { rounds, warm = 1 }: { readonly rounds: number; readonly warm?: number },
  sides: { readonly [name in Name]: (round: number) => Promise<number> },
): Promise<{ readonly [name in Name]: readonly number[] }> {
  const names = Object.keys(sides) as Name[]
  const found = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (let round = -warm; round < rounds; round++)
    for (const name of names) {
      const value = await sides[name](round + warm)
      if (round >= 0) found[name].push(value)
    }
  return found
}

/** The median of the ratios of each round. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, round) => value / (theirs[round] ?? NaN)))
}

/** The milliseconds that a task takes. */
export async function timed(task: () => unknown): Promise<number> {
  const began = performance.now()
  await task()
  return performance.now() - began
}

/** Runs a task for each of some clients, at most `atOnce` at the same time. Returns the milliseconds until the last has ended. */
export function together(
  count: number,
  atOnce: number,
  task: (client: number) => Promise<unknown>,
): Promise<number> {
  let next = 0
  const lane = async () => {
    while (next < count) await task(next++)
  }
  return timed(() => Promise.all(Array.from({ length: atOnce }, lane)))
}

export const ms = (value: number, digits = 1) => `${value.toFixed(digits)} ms`
export const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
export const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`
