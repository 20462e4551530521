import type { CapturedChange } from '../ports/captures.ts'
import type { TurnFolder } from './turn-record.ts'

/**
 * A part of a turn, between two captures of a folder. The host takes a capture when the first running call of the
 * turn begins, and when the last one ends. So during a period, calls of the turn run either all the time or not at
 * all. If a capture fails, two such periods become one.
 */
export interface Period {
  /** Whether calls of the turn are known to have run during the whole period. */
  readonly own: boolean
  /** Whether another turn, a worker or a terminal was active in the folder. */
  readonly others: boolean
  readonly changes: readonly CapturedChange[]
}

/**
 * Returns the paths that somebody else may have changed: those in `before`, and those that changed in this period
 * while none of the turn's calls ran, or while others were active in the folder. If there are more than `most`, the
 * result is true, which stands for all paths.
 */
export function sharedAfter(
  before: TurnFolder['shared'],
  { own, others, changes }: Period,
  most: number,
): TurnFolder['shared'] {
  if (before === true || (own && !others) || changes.length === 0) return before
  const shared = new Set([...(before ?? []), ...changes.flatMap(pathsOf)])
  return shared.size > most ? true : [...shared].toSorted()
}

/** The paths that a change concerns: two if the file was renamed. */
export function pathsOf({ path, oldPath }: CapturedChange): readonly string[] {
  return oldPath === undefined ? [path] : [oldPath, path]
}
