import { dueInstants } from '@atrium/protocol/automation/schedule'
import type { Schedule } from '@atrium/protocol/automation/schedule'

/** Why a due instant has no run. */
export type MissReason =
  | 'skip'
  | 'coalesced'
  | 'disabled'
  | 'unavailable'
  | 'overlap'
  | 'clock jump'
  | 'host away'

/** Due instants in a row that have no run, for one reason. */
export interface Missed {
  readonly because: MissReason
  readonly from: number
  readonly to: number
  readonly count: number
}

/** What is known at the moment at which a schedule is evaluated. */
export interface Moment {
  readonly now: number
  /** Later instants are left for another evaluation. */
  readonly upTo: number
  readonly enabled: boolean
  /** Whether an instant that is late starts a run, or is missed. */
  readonly catchesUp: boolean
  /** Whether another run of the automation excludes a new one. */
  readonly busy: boolean
  /** Why an instant that is late was not evaluated in time. */
  readonly lateBecause: (instant: number) => MissReason
}

/** The outcome: each due instant up to the cursor is the one of the run, or is missed. */
export interface Evaluation {
  /** Everything up to here is evaluated, and will never be evaluated again. */
  readonly cursor: number
  readonly run?: { readonly scheduledFor: number; readonly catchUp: boolean }
  readonly missed: readonly Missed[]
  /** Whether there may be more due instants. They are evaluated in a further step, so that each takes a bounded time. */
  readonly more: boolean
}

/** An instant is late if it is evaluated after more than this time. */
export const lateMs = 60_000

/** The number of instants in one evaluation. */
const mostAtOnce = 200_000

/**
 * Evaluates the due instants of a schedule after a cursor. At most one of them starts a run, the last one, so that
 * a host that was away for a month does not start a thousand runs.
 */
export function evaluate(
  schedule: Schedule,
  cursor: number,
  { now, upTo, enabled, catchesUp, busy, lateBecause }: Moment,
  most = mostAtOnce,
): Evaluation {
  const due: number[] = []
  for (const instant of dueInstants(schedule, cursor)) {
    if (instant > upTo || due.length === most) break
    due.push(instant)
  }
  const last = due.at(-1)
  if (last === undefined) return { cursor, missed: [], more: false }
  const more = due.length === most
  const isLate = (instant: number) => now - instant > lateMs
  const runs = enabled && !more && !busy && (catchesUp || !isLate(last))
  const reasonOf = (instant: number): MissReason => {
    if (!enabled) return 'disabled'
    if (!catchesUp && isLate(instant)) return lateBecause(instant)
    return busy ? 'overlap' : 'coalesced'
  }
  const missed = runs ? due.slice(0, -1) : due
  return {
    cursor: last,
    ...(runs && { run: { scheduledFor: last, catchUp: isLate(last) } }),
    missed: inRows(missed, reasonOf),
    more,
  }
}

/** Joins instants in a row that are missed for the same reason. */
function inRows(instants: readonly number[], reasonOf: (instant: number) => MissReason): readonly Missed[] {
  const rows: { because: MissReason; from: number; to: number; count: number }[] = []
  for (const instant of instants) {
    const because = reasonOf(instant)
    const row = rows.at(-1)
    if (row?.because !== because) rows.push({ because, from: instant, to: instant, count: 1 })
    else {
      row.to = instant
      row.count++
    }
  }
  return rows
}
