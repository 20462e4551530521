import type { CapturedChange, CapturedEdit, CapturedFile } from '../../ports/captures.ts'
import { pathsOf } from '../attribution.ts'
import type { TurnFolder } from '../turn-record.ts'

/**
 * What an undo does with one change of a turn. `apply`: the file is as the turn left it, and nobody else can have had a part in
 * it. `done`: the file is already as it was before the turn. `shared`: others may have changed it during the turn. `changed`: it
 * was changed after the turn. `lost`: its earlier content was not captured. Shared and changed files are conflicts, until a
 * person has decided about them: `kept`.
 */
export type Verdict = 'apply' | 'done' | 'shared' | 'changed' | 'lost' | 'kept'

/** The files that differ now from what the turn left, as they are now. `undefined` if there is no file any more. */
export type Present = ReadonlyMap<string, CapturedFile | undefined>

/** One file on the way back: what the turn left at a path, and what was there before. */
interface Step {
  readonly path: string
  readonly left?: CapturedFile | undefined
  readonly before?: CapturedFile | undefined
}

/** Decides about one change of a turn. */
export function verdictOn(change: CapturedChange, shared: TurnFolder['shared'], present: Present): Verdict {
  const verdicts = stepsOf(change).map((step) => verdictOnStep(step, present))
  if (verdicts.every((verdict) => verdict === 'done')) return 'done'
  if (verdicts.includes('changed')) return 'changed'
  if (shared === true || pathsOf(change).some((path) => shared?.includes(path))) return 'shared'
  return verdicts.includes('lost') ? 'lost' : 'apply'
}

function verdictOnStep({ path, left, before }: Step, present: Present): Verdict {
  const now = present.has(path) ? present.get(path) : left
  if (isSame(now, before)) return 'done'
  if (!isSame(now, left)) return 'changed'
  return before?.omitted === undefined ? 'apply' : 'lost'
}

/**
 * The edits that take a change back. `expected` is the file as it is now, so that a change by somebody else before the edit is
 * noticed.
 */
export function editsBack(change: CapturedChange, present: Present): readonly CapturedEdit[] {
  return stepsOf(change).flatMap(({ path, left, before }) => {
    const now = present.has(path) ? present.get(path) : left
    if (isSame(now, before)) return []
    return [{ path, ...(now && { expected: now }), ...(before && { wanted: before }) }]
  })
}

/** The change that an undo makes. A redo takes this change back, as an undo takes back the change of a turn. */
export function reversed({ path, oldPath, before, after, ...counts }: CapturedChange): CapturedChange {
  const sides = { ...(after && { before: after }), ...(before && { after: before }) }
  return oldPath === undefined
    ? { path, ...sides, ...counts }
    : { path: oldPath, oldPath: path, ...sides, ...counts }
}

/** A rename is a deletion at one path and an addition at another. */
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
