import type { Client } from '@atrium/client/client'
import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol/changeset/state'
import { textOf } from '@atrium/protocol/common/content'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { changesetOf, fileNamed, invokeOperation, pathIn, turnNumber } from '../../session/changes.ts'
import type { FoundChangeset } from '../../session/changes.ts'
import { findTarget } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface UndoFlags extends HostOptions, OutputOptions {
  readonly turn?: string
  readonly redo?: boolean
  readonly dryRun?: boolean
  readonly keep?: boolean
  readonly copy?: boolean
  readonly force?: boolean
}

/** What to do with the files that others may have changed, too: an operation of the host, and words for it. */
interface Choice {
  readonly operation: string
  readonly does: string
}

const choices = {
  keep: { operation: 'keep', does: 'Left as they are from now on' },
  copy: { operation: 'undo-with-copy', does: 'Set back, each with a copy beside it' },
  force: { operation: 'undo-anyway', does: 'Set back with what others changed in them' },
} satisfies Record<string, Choice>

/**
 * `atrium undo`: takes back the changes of a turn, by default of the last one. A file that others may have changed, too, is a
 * conflict. It stays as it is, unless a flag chooses otherwise.
 */
export function undo(session = 'last', files: readonly string[], flags: UndoFlags): Promise<void> {
  choiceOf(flags)
  return withClient(flags, async (client) => {
    const out = output(flags)
    const done = await undoTurn(client, { session, files, flags, note: out.note })
    if (!flags.dryRun) out.report({ operation: flags.redo ? 'redo' : 'undo' }, () => done.join('\n'))
  })
}

interface UndoOfTurn {
  readonly session: string
  readonly files: readonly string[]
  readonly flags: UndoFlags
  /** Gets what is said before it begins. */
  readonly note: (text: string) => void
}

/** Does the work of `atrium undo`. Returns what the host has done. */
export async function undoTurn(
  client: Client,
  { session, files, flags, note }: UndoOfTurn,
): Promise<readonly string[]> {
  const choice = choiceOf(flags)
  const turn = flags.turn === undefined ? [] : ['--turn', flags.turn]
  const asked = [session, ...files, ...turn]
  const target = await findTarget(client, session)
  const found = await changesetOf(client, target, turnNumber(flags.turn ?? '-1'))
  const named = files.map((file) => fileNamed(found.state, file, found.folders))
  const id = flags.redo ? 'redo' : 'undo'
  const operation = found.state.operations?.find((each) => each.id === id)
  if (!operation) throw new CommandError(nothingTo(id, found))
  const conflicts = () => conflictsIn(client, found, named)
  if (named.length === 0)
    notes(operation, found, flags.dryRun ? choice : undefined, conflicts()).forEach(note)
  if (flags.dryRun && operation.status === 'disabled' && !choice)
    throw withChoices(
      new CommandError(onOneLine(textOf(operation.description ?? nothingTo(id, found)))),
      conflicts(),
      asked,
    )
  if (flags.dryRun) return []
  const done: string[] = []
  const refused = await undoOrRedo(client, found, id, named).then(
    (messages) => void done.push(...messages),
    (error: unknown) => (error instanceof CommandError ? error : Promise.reject(error)),
  )
  // The answer of the host, and its refusal, too, come after the newest state of the changeset.
  const due = choice ? conflicts() : []
  if (refused && due.length === 0) throw withChoices(refused, conflicts(), asked)
  for (const file of due)
    if (choice)
      done.push(
        `${onOneLine(pathIn(file, found.folders))}: ${await invoke(client, found, choice.operation, file)}`,
      )
  return done
}

function choiceOf({ keep, copy, force, redo }: UndoFlags): Choice | undefined {
  const [choice, ...more] = [keep && choices.keep, copy && choices.copy, force && choices.force].filter(
    (each) => each !== undefined && each !== false,
  )
  if (more.length > 0)
    throw new CommandError(
      '--keep, --copy and --force exclude each other; name the files for each of them.',
      exits.usage,
    )
  if (choice && redo)
    throw new CommandError('--keep, --copy and --force are for an undo; leave out --redo.', exits.usage)
  return choice
}

/** The conflicts among the named files, or among all files, in the newest state of a changeset. */
function conflictsIn(
  client: Client,
  { uri, state }: FoundChangeset,
  named: readonly ChangesetFile[],
): readonly ChangesetFile[] {
  const { files } = client.subscribe('changeset', uri).state ?? state
  const isChosen = ({ id }: ChangesetFile) => named.length === 0 || named.some((each) => each.id === id)
  return files.filter((file) => isChosen(file) && isConflict(file))
}

/** Whether others may have changed a file, too. The host says so with the file. */
function isConflict({ _meta }: ChangesetFile): boolean {
  const about = _meta?.['x-atrium']
  const verdict = typeof about === 'object' && about !== null && 'undo' in about ? about.undo : undefined
  return typeof verdict === 'string' && conflictVerdicts.has(verdict)
}

const conflictVerdicts = new Set(['shared', 'uncertain', 'changed'])

function nothingTo(id: string, { state }: FoundChangeset): string {
  return state.files.length === 0
    ? `There is nothing to ${id} in this turn.`
    : 'The end of this turn is not recorded yet. Try again in a moment.'
}

/** What the command says before it begins. */
function notes(
  { status, confirmation }: ChangesetOperation,
  { folders }: FoundChangeset,
  choice: Choice | undefined,
  conflicts: readonly ChangesetFile[],
): readonly string[] {
  const isIdle = status !== 'disabled' && confirmation !== undefined
  const paths = conflicts.map((file) => pathIn(file, folders)).join(', ')
  return [
    ...(isIdle ? [onOneLine(textOf(confirmation))] : []),
    ...(choice && conflicts.length > 0 ? [onOneLine(`${choice.does}: ${paths}.`)] : []),
  ]
}

/** Adds to a refusal the commands that decide about the conflicts of what was asked for: a session, files and a turn. */
function withChoices(
  refused: CommandError,
  conflicts: readonly ChangesetFile[],
  asked: readonly string[],
): CommandError {
  if (conflicts.length === 0) return refused
  const words = asked
    .map((word) => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ')
  const commands = ['keep', 'copy', 'force'].map((flag) => `atrium undo ${words} --${flag}`)
  return new CommandError(`${refused.message} The commands: ${commands.join(', ')}.`)
}

/** Takes back or brings back the changes of a turn: all of them, or those of the named files. Returns what the host says. */
async function undoOrRedo(
  client: Client,
  found: FoundChangeset,
  id: string,
  named: readonly ChangesetFile[],
): Promise<readonly string[]> {
  if (named.length === 0) return [await invoke(client, found, id)]
  const messages: string[] = []
  for (const file of named) messages.push(await invoke(client, found, id, file))
  return messages
}

function invoke(
  client: Client,
  { uri: channel }: FoundChangeset,
  operationId: string,
  file?: ChangesetFile,
): Promise<string> {
  const resource = file?.edit.after?.uri ?? file?.edit.before?.uri
  const aim = resource === undefined ? {} : { target: { kind: 'resource', resource } as const }
  return invokeOperation(client, { channel, operationId, ...aim })
}
