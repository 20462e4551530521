import { dueInstants, parseSchedule } from '@atrium/protocol/automation/schedule'

/** A note of missed instants, as the host tells it. */
export interface Note {
  readonly expression: string
  readonly timeZone: string
  readonly from: string
  readonly count: number
}

/** The instants up to a time. */
export function instantsOf(all: Iterable<number>, upTo: number): readonly number[] {
  const found: number[] = []
  for (const instant of all) {
    if (instant > upTo) break
    found.push(instant)
  }
  return found
}

/** The first instant that is not a run or a missed one exactly as often as it was due. */
export function differenceOf(
  runs: readonly number[],
  notes: readonly Note[],
  due: readonly number[],
): string | undefined {
  const counts = new Map<number, number>()
  const add = (instant: number, by: number) => counts.set(instant, (counts.get(instant) ?? 0) + by)
  for (const instant of due) add(instant, -1)
  for (const instant of [...runs, ...notes.flatMap(instantsIn)]) add(instant, 1)
  const wrong = [...counts].find(([, count]) => count !== 0)
  return wrong && `${new Date(wrong[0]).toISOString()} was claimed ${wrong[1] + 1} times`
}

function instantsIn({ expression, timeZone, from, count }: Note): readonly number[] {
  const read = parseSchedule({ expression, timeZone })
  if (!read.ok) throw new Error(read.problem)
  const found: number[] = []
  for (const instant of dueInstants(read.value, Date.parse(from) - 1)) {
    if (found.length === count) break
    found.push(instant)
  }
  return found
}
