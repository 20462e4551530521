import { isJsonObject } from '../json.ts'
import { byDifference } from './difference.ts'
import type { Member } from './difference.ts'
import type { StateContext } from './lens.ts'
import { at, listOf, objectChange, put, shapeOf } from './shape.ts'
import type { Shape } from './shape.ts'
import type { ChangeRow } from './step.ts'

/**
 * Returns `diffs`, the list of changed files in the summary of a session at 0.1: the edits in the changeset with all
 * changes of the session. 0.1 has no changesets.
 */
export function diffsOf(changeset: Shape): readonly unknown[] {
  return listOf(changeset, 'files')
    .map((file) => shapeOf(file)['edit'])
    .filter(isJsonObject)
}

/**
 * Adds `diffs`, the files of the session's changeset, to the summary in a session's state. If the changeset is not
 * known, returns the state unchanged.
 */
export function withDiffs(session: Shape, context: StateContext | undefined): Shape {
  if (!context?.changeset) return session
  const diffs = diffsOf(shapeOf(context.changeset))
  return at(
    session,
    'summary',
    objectChange((summary) => put(summary, { diffs })),
  )
}

const members: readonly Member[] = [
  { read: diffsOf, set: (diffs) => put({ type: 'session/diffsChanged' }, { diffs }) },
]

/**
 * The actions that can change the files of a changeset at 0.2. Only their translation needs the state. The other
 * actions can therefore be translated in a replay, which has no state.
 */
const fileActions: ReadonlySet<string> = new Set([
  'changeset/fileSet',
  'changeset/fileRemoved',
  'changeset/cleared',
])

/**
 * Translates a change of the files to one action of 0.1 with all files, however many actions 0.2 has for the change.
 */
export const diffsChanged: ChangeRow = (actions, context) =>
  actions.some(({ type }) => fileActions.has(type)) ? byDifference(members, context) : []
