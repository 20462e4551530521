import type { Uri } from '../channel.ts'
import { isJsonObject } from '../json.ts'
import type { AutomationEntry, AutomationRunSummary } from './state.ts'

/** Due instants in a row, or an event, without a run. Times are ISO 8601. `x-atrium/missedRuns` lists them. */
export interface MissedRuns {
  readonly triggerId: string
  readonly because: string
  /** The first and the last of the instants. */
  readonly from: string
  readonly to: string
  readonly count: number
  /** The schedule at that time. Absent for an event. */
  readonly expression?: string
  readonly timeZone?: string
  /** The run that stands for the missed instants. */
  readonly into?: Uri
}

/** A run of an automation, or runs that it missed. `at`: when the run, or the first missed one, was due. */
export type Happening =
  | { readonly at: string; readonly run: AutomationRunSummary }
  | { readonly at: string; readonly missed: MissedRuns }

/** What has become of an automation: its runs and the runs that it missed, the newest last. */
export function timelineOf(
  runs: readonly AutomationRunSummary[],
  missed: readonly MissedRuns[],
): readonly Happening[] {
  const all: readonly Happening[] = [
    ...runs.map((run) => ({ at: timeOf(run), run })),
    ...missed.map((each) => ({ at: each.from, missed: each })),
  ]
  return all.toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

/** When a run was due, or else when it was created. */
function timeOf({ origin, lifecycle }: AutomationRunSummary): string {
  return (origin.kind === 'trigger' ? origin.scheduledFor : undefined) ?? lifecycle.createdAt
}

/** What has started a run, in words. */
export function originWords({ origin }: Pick<AutomationRunSummary, 'origin'>): string {
  if (origin.kind === 'manual') return 'by hand'
  if (origin.scheduledFor === undefined) return 'by an event'
  return origin.catchUp === true ? 'by schedule, late' : 'by schedule'
}

/** The reason in words for which a run was missed. */
export function missedWords(because: string): string {
  return reasons.get(because) ?? because
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['skip', 'it was late, and late runs are skipped'],
  ['coalesced', 'a later one ran instead'],
  ['disabled', 'the automation was paused'],
  ['unavailable', 'nothing could be stored'],
  ['overlap', 'an earlier run was active'],
  ['clock jump', 'the machine slept, or its clock was changed'],
  ['host away', 'the host was not running'],
  ['too many events', 'too many events in an hour'],
])

/** The number of instants that an automation has missed, with the newest ones, as hosts of this project tell it. */
export function missesOf({
  _meta,
}: Pick<AutomationEntry, '_meta'>): { readonly total: number; readonly newest: MissedRuns } | undefined {
  const own = _meta?.['x-atrium']
  const missed = isJsonObject(own) ? own['missed'] : undefined
  if (!isJsonObject(missed)) return undefined
  const { total, newest } = missed
  // The host writes both together, and the newest in the shape of its notes.
  return typeof total === 'number' && isJsonObject(newest)
    ? { total, newest: newest as unknown as MissedRuns }
    : undefined
}
