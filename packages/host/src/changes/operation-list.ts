import type { ChangesetOperation } from '@atrium/protocol/changeset/state'
import type { TurnRecord } from './turn-record.ts'
import type { PlannedFile } from './undo/undo.ts'

/**
 * The operations of a turn's changeset. The confirmation of an undo lists the files that it would set back, and those that it
 * would leave as they are. If it can set nothing back, its description says why. `sessions`: the titles of the sessions whose
 * turns were active in the folders at the same time.
 */
export function turnOperations(
  { folders }: TurnRecord,
  files: readonly PlannedFile[],
  sessions: readonly string[] = [],
): readonly ChangesetOperation[] {
  if (folders.some(({ end }) => end === undefined) || files.length === 0) return []
  const named = (...verdicts: readonly string[]) =>
    files.filter(({ verdict }) => verdicts.includes(verdict)).map(({ change }) => change.path)
  const undoable = named('apply')
  const conflicts = named('shared', 'changed')
  const redoable = folders.flatMap(({ undone = [] }) => undone)
  return [
    {
      id: 'undo',
      label: 'Undo Turn',
      icon: 'discard',
      group: 'undo',
      scopes: ['changeset', 'resource'],
      ...(undoable.length === 0 && { description: refusal(conflicts, sessions) }),
      confirmation: confirmation(undoable, conflicts, sessions),
      status: undoable.length > 0 ? 'idle' : 'disabled',
    },
    {
      id: 'redo',
      label: 'Redo Turn',
      icon: 'redo',
      group: 'undo',
      scopes: ['changeset', 'resource'],
      status: redoable.length > 0 ? 'idle' : 'disabled',
    },
    ...(conflicts.length > 0 ? conflictOperations : []),
  ]
}

/** The three choices for a file that others changed, too. */
const conflictOperations: readonly ChangesetOperation[] = [
  {
    id: 'keep',
    label: 'Keep the File as It Is',
    group: 'conflict',
    scopes: ['resource'],
    status: 'idle',
  },
  {
    id: 'undo-with-copy',
    label: 'Undo, and Keep a Copy of the File',
    group: 'conflict',
    scopes: ['resource'],
    status: 'idle',
  },
  {
    id: 'undo-anyway',
    label: 'Undo Anyway',
    description: 'Takes back what others changed in the file, too',
    confirmation:
      'Others have changed this file, too. Their changes will be taken back with those of the turn.',
    group: 'conflict',
    scopes: ['resource'],
    status: 'idle',
  },
]

/** The operations of a changeset that shows uncommitted files. */
export const fileOperations: readonly ChangesetOperation[] = [
  {
    id: 'discard',
    label: 'Discard Changes',
    icon: 'discard',
    confirmation: 'The file, or the chosen part of it, will be set back to the last commit.',
    scopes: ['resource', 'range'],
    status: 'idle',
  },
]

function confirmation(
  undoable: readonly string[],
  conflicts: readonly string[],
  sessions: readonly string[],
): string {
  const text = `Set back to before the turn: ${listed(undoable)}.`
  return conflicts.length === 0
    ? text
    : `${text} Left as they are, because others changed them, too: ${listed(conflicts)}.${activity(sessions)}`
}

/** Says why an undo can set nothing back. */
function refusal(conflicts: readonly string[], sessions: readonly string[]): string {
  if (conflicts.length === 0) return 'Nothing is left to set back in this turn.'
  const files = `others may have changed these files, too: ${listed(conflicts)}`
  const choices = 'there are three choices: keep it, set it back with a copy, or set it back anyway'
  return `Nothing can be set back: ${files}.${activity(sessions)} For each of these files ${choices}.`
}

function activity(sessions: readonly string[]): string {
  if (sessions.length === 0) return ''
  const named = sessions.map((title) => JSON.stringify(title)).join(', ')
  return sessions.length === 1
    ? ` A turn of the session ${named} was active in the folder at the same time.`
    : ` Turns of the sessions ${named} were active in the folder at the same time.`
}

/** Joins paths to a text. If there are many, the text has the first ones and the number of the others. */
export function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, mostNamed).join(', ')
  return paths.length > mostNamed ? `${shown} and ${paths.length - mostNamed} more` : shown || 'no file'
}

const mostNamed = 20
