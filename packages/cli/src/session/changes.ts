import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ChangesetFile, ChangesetState } from '@atrium/protocol/changeset/state'
import type { Params } from '@atrium/protocol/commands'
import { textOf } from '@atrium/protocol/common/content'
import { AhpError } from '@atrium/protocol/errors'
import { CommandError, exits } from '../terminal/exit.ts'
import { onOneLine } from '../terminal/output.ts'
import type { Target } from './find.ts'

/**
 * The changes that a command is about: a changeset by its kind, or the number of a turn. A negative number counts
 * from the end.
 */
export type ChangesScope = 'session' | 'uncommitted' | 'branch' | number

export interface FoundChangeset {
  readonly uri: Uri
  readonly state: ChangesetState
  /** The working directories. Paths are shown relative to them. */
  readonly folders: readonly Uri[]
}

/** Finds a changeset in the catalogues of a session or its chat, and waits until it is computed. */
export async function changesetOf(
  client: Client,
  target: Target,
  scope: ChangesScope,
): Promise<FoundChangeset> {
  const found = await computedChangeset(client, target, scope)
  const { status, error } = found.state
  if (status === 'error') throw new CommandError(error?.message ?? 'The changes could not be computed.')
  return found
}

/**
 * Does the same as `changesetOf`, but also returns a changeset whose files could not be computed, because it may have
 * operations.
 */
export async function computedChangeset(
  client: Client,
  { session, chat }: Target,
  scope: ChangesScope,
): Promise<FoundChangeset> {
  const { changesets = [], workingDirectories = [] } = await client
    .subscribe('session', session.resource)
    .ready()
  const uri =
    typeof scope === 'number'
      ? await turnChangeset(client, chat, scope)
      : changesets.find(({ changeKind }) => changeKind === scope)?.uriTemplate
  if (uri === undefined) throw new CommandError(absent[typeof scope === 'number' ? 'turn' : scope])
  const handle = client.subscribe('changeset', uri)
  const state = await handle.until(({ status }) => status === 'ready' || status === 'error')
  return { uri, state, folders: workingDirectories }
}

/** Runs an operation of a changeset. Returns the message of the host about it, on one line. */
export async function invokeOperation(
  client: Client,
  params: Params<'invokeChangesetOperation'>,
): Promise<string> {
  const { message = 'Done.' } = await client
    .ask('invokeChangesetOperation', params)
    .catch((error: unknown) => {
      throw error instanceof AhpError ? new CommandError(onOneLine(sentence(error.message))) : error
    })
  return onOneLine(textOf(message))
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`
}

const absent = {
  session: 'This session has no folder, or the host does not record changes.',
  turn: 'This chat has no such turn, or the host does not record changes.',
  uncommitted: 'This session has no folder in a git repository, or the host does not record changes.',
  branch: 'This session has no folder in a git repository, or the host does not record changes.',
}

async function turnChangeset(client: Client, chat: Uri, number: number): Promise<Uri | undefined> {
  const { changesets = [], turns, activeTurn } = await client.subscribe('chat', chat).ready()
  const template = changesets.find(({ changeKind }) => changeKind === 'turn')?.uriTemplate
  const turn = turns.at(number > 0 ? number - 1 : number)
  if (!turn && activeTurn)
    throw new CommandError(
      'This turn is still in progress. If it waits for you, answer with `atrium approve`; `atrium cancel` ends it.',
    )
  return turn && template?.replace('{turnId}', encodeURIComponent(turn.id))
}

/** Reads the number of a turn: from 1, or from -1 backwards. */
export function turnNumber(text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number === 0)
    throw new CommandError(
      `'${text}' is not the number of a turn; the first is 1, the last is -1.`,
      exits.usage,
    )
  return number
}

/** The path of a file, relative to the working directory that it is in. */
export function pathIn({ edit }: ChangesetFile, folders: readonly Uri[]): string {
  const uri = edit.after?.uri ?? edit.before?.uri ?? ''
  const folder = folders.find((each) => uri.startsWith(`${each.replace(/\/$/, '')}/`))
  const path =
    folder === undefined ? uri.replace(/^file:\/\//, '') : uri.slice(folder.replace(/\/$/, '').length + 1)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Finds a file of a changeset by its path. */
export function fileNamed({ files }: ChangesetState, path: string, folders: readonly Uri[]): ChangesetFile {
  const found = files.find((file) => pathIn(file, folders) === path.replace(/^\.\//, ''))
  if (found) return found
  const paths = files.map((file) => pathIn(file, folders)).join(', ')
  throw new CommandError(`The turn did not change '${path}'; it changed: ${paths || 'nothing'}.`, exits.usage)
}
