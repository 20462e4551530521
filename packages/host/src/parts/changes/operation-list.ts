import type { ChangesetOperation } from '@atrium/protocol/changeset/state'
import type { CapturedChange } from '../../ports/captures.ts'
import type { TurnRecord } from './turn-record.ts'
import { listed } from './undo/listed.ts'
import { omissionIn } from './undo/undo.ts'
import type { PlannedFile } from './undo/undo.ts'

/**
 * The operations of a turn's changeset. The confirmation of an undo lists the files that it would set back, and those that it
 * would leave as they are. If it can set nothing back, its description says why. `sessions`: the titles of the sessions whose
 * turns were active in the folders at the same time.
 */
export function turnOperations(
  { folders, besideHosts }: TurnRecord,
  files: readonly PlannedFile[],
  sessions: readonly string[] = [],
): readonly ChangesetOperation[] {
  if (folders.some(({ end }) => end === undefined) || files.length === 0) return []
  const named = (...verdicts: readonly string[]) =>
    files.filter(({ verdict }) => verdicts.includes(verdict)).map(({ change }) => change.path)
  const undoable = named('apply')
  const conflicts = named('shared', 'changed')
  const uncertain = named('uncertain')
  const during = files.find(({ verdict }) => verdict === 'uncertain')?.during ?? 'a call'
  const lost = files.filter(({ verdict }) => verdict === 'lost').map(({ change }) => change)
  const beside = activity(sessions, besideHosts === true)
  const preview = { undoable, conflicts, uncertain, during, beside, lost }
  const redoable = folders.flatMap(({ undone = [] }) => undone)
  return [
    {
      id: 'undo',
      label: 'Undo Turn',
      icon: 'discard',
      group: 'undo',
      scopes: ['changeset', 'resource'],
      ...(undoable.length === 0 && { description: refusal(preview) }),
      confirmation: confirmation(preview),
      status: undoable.length > 0 ? 'idle' : 'disabled',
    },
    ...(uncertain.length > 0 ? [undoUncertain(preview)] : []),
    {
      id: 'redo',
      label: 'Redo Turn',
      icon: 'redo',
      group: 'undo',
      scopes: ['changeset', 'resource'],
      status: redoable.length > 0 ? 'idle' : 'disabled',
    },
    ...(conflicts.length > 0 || uncertain.length > 0 ? conflictOperations : []),
  ]
}

/** Undoes the turn together with its uncertain files. Each of them gets a copy. */
function undoUncertain(preview: Preview): ChangesetOperation {
  const all = [...preview.undoable, ...preview.uncertain]
  return {
    id: 'undo-uncertain',
    label: 'Undo Turn and Uncertain Files, with Copies',
    icon: 'discard',
    group: 'undo',
    scopes: ['changeset'],
    confirmation: `Set back to before the turn: ${listed(all)}. ${inDoubt(preview)} A copy of each of them is kept beside it (NAME.before-undo).`,
    status: 'idle',
  }
}

/** The three choices for a file that others changed, too, or may have changed. */
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
    description:
      'Takes back what others changed in the file, too. Keeps a copy if it was changed while a call ran',
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

interface Preview {
  readonly undoable: readonly string[]
  readonly conflicts: readonly string[]
  readonly uncertain: readonly string[]
  /** The changes for which the content of the file before or after was not recorded. */
  readonly lost: readonly CapturedChange[]
  /** The calls during which the uncertain files were changed. */
  readonly during: string
  /** Says whose turns were active at the same time. */
  readonly beside: string
}

function confirmation({ undoable, conflicts, beside, lost, ...preview }: Preview): string {
  const text = `Set back to before the turn: ${listed(undoable)}.${notRecorded(lost)}`
  const left =
    conflicts.length === 0
      ? ''
      : ` Left as they are, because others changed them, too: ${listed(conflicts)}.${beside}`
  const doubt =
    preview.uncertain.length === 0 ? '' : ` Left as they are, unless you choose them: ${inDoubt(preview)}`
  return text + left + doubt
}

/** Names the files that changed while a call ran. */
function inDoubt({ uncertain, during }: Pick<Preview, 'uncertain' | 'during'>): string {
  const they = uncertain.length === 1 ? 'it' : 'they'
  return `${listed(uncertain)} changed while ${during} ran; ${they} may be a person's work.`
}

/** Says why an undo can set nothing back. */
function refusal({ conflicts, beside, lost, ...preview }: Preview): string {
  if (conflicts.length + preview.uncertain.length === 0)
    return `Nothing is left to set back in this turn.${notRecorded(lost)}`
  const reasons = [
    ...(conflicts.length > 0
      ? [`others may have changed these files, too: ${listed(conflicts)}.${beside}`]
      : []),
    ...(preview.uncertain.length > 0 ? [inDoubt(preview)] : []),
  ]
  const choices = 'there are three choices: keep it, set it back with a copy, or set it back anyway'
  return `Nothing can be set back: ${reasons.join(' ')} For each of these files ${choices}.${notRecorded(lost)}`
}

/** Names the files that an undo leaves as they are, because they were not recorded. */
function notRecorded(lost: readonly CapturedChange[]): string {
  if (lost.length === 0) return ''
  const count = lost.length === 1 ? '1 file is' : `${lost.length} files are`
  const paths = lost.map(({ path }) => path)
  return ` ${count} left, because not recorded: ${listed(paths)}. ${[...new Set(lost.map(omissionIn))].join(' ')}`
}

function activity(sessions: readonly string[], hosts: boolean): string {
  if (hosts)
    return `${activity(sessions, false)} A turn of another host was active in the folder at the same time.`
  if (sessions.length === 0) return ''
  const named = sessions.map((title) => JSON.stringify(title)).join(', ')
  return sessions.length === 1
    ? ` A turn of the session ${named} was active in the folder at the same time.`
    : ` Turns of the sessions ${named} were active in the folder at the same time.`
}
