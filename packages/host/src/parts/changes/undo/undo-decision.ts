import type { CapturedChange, CapturedEdit, CapturedFile } from '../../../ports/captures.ts'
import { pathsOf, uncertainty } from '../attribution.ts'
import type { Attributed } from '../attribution.ts'

/**
 * What an undo finds about one change of a turn:
 * - `apply`: the file is as the turn left it, and nobody else can have had a part in it. The undo takes the change
 *   back.
 * - `done`: the file is already as it was before the turn.
 * - `shared`: others may have changed the file during the turn. This is a conflict.
 * - `uncertain`: a person may have changed the file while a call of the turn ran. An undo leaves it as it is, unless a
 *   person chooses it.
 * - `changed`: the file was changed after the turn. This is a conflict.
 * - `lost`: a content of the file was not captured.
 * - `kept`: a person has decided about a conflict that the file stays as it is.
 */
export type Verdict = 'apply' | 'done' | 'shared' | 'uncertain' | 'changed' | 'lost' | 'kept'

/**
 * The files as they are now, by path. Contains only the paths at which the file is not as the turn left it. The value
 * is `undefined` if there is no file any more.
 */
export type Present = ReadonlyMap<string, CapturedFile | undefined>

/** What an undo compares at one path: the file that the turn left there, and the one before the turn. */
interface Step {
  readonly path: string
  readonly left?: CapturedFile | undefined
  readonly before?: CapturedFile | undefined
}

/** Returns the verdict on one change of a turn. It is never `kept`: decisions of people are not considered. */
export function verdictOn(change: CapturedChange, turn: Attributed | undefined, present: Present): Verdict {
  const verdicts = stepsOf(change).map((step) => verdictOnStep(step, present))
  if (verdicts.every((verdict) => verdict === 'done')) return 'done'
  if (verdicts.includes('changed')) return 'changed'
  const shared = turn?.shared
  if (shared === true || pathsOf(change).some((path) => shared?.includes(path))) return 'shared'
  if (verdicts.includes('lost')) return 'lost'
  return turn && uncertainty(turn, change) !== undefined ? 'uncertain' : 'apply'
}

function verdictOnStep({ path, left, before }: Step, present: Present): Verdict {
  const now = present.has(path) ? present.get(path) : left
  if (isSame(now, before)) return 'done'
  if (!isSame(now, left)) return 'changed'
  return before?.omitted === undefined && left?.omitted === undefined ? 'apply' : 'lost'
}

/**
 * Makes the edits that take a change back. `expected` is the file as it is now, so that a change by somebody else
 * before the edit is noticed.
 */
export function editsBack(change: CapturedChange, present: Present): readonly CapturedEdit[] {
  return stepsOf(change).flatMap(({ path, left, before }) => {
    const now = present.has(path) ? present.get(path) : left
    if (isSame(now, before)) return []
    return [{ path, ...(now && { expected: now }), ...(before && { wanted: before }) }]
  })
}

/**
 * Returns the change that an undo of this change makes. A redo takes that change back, as an undo takes back the
 * change of a turn.
 */
export function reversed({ path, oldPath, before, after, ...counts }: CapturedChange): CapturedChange {
  const sides = { ...(after && { before: after }), ...(before && { after: before }) }
  return oldPath === undefined
    ? { path, ...sides, ...counts }
    : { path: oldPath, oldPath: path, ...sides, ...counts }
}

/** Returns what an undo compares, for each path of a change. A rename has two: an added file, and a deleted one. */
function stepsOf({ path, oldPath, before, after }: CapturedChange): readonly Step[] {
  if (oldPath === undefined) return [{ path, left: after, before }]
  return [
    { path, left: after },
    { path: oldPath, before },
  ]
}

function isSame(a: CapturedFile | undefined, b: CapturedFile | undefined): boolean {
  return a?.content === b?.content && a?.mode === b?.mode
}
