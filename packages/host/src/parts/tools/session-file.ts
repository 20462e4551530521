import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import { isIn } from '../access/roots.ts'
import type { Access } from '../access/roots.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { ContainedPath, FileEntry, FileStat, Files } from '../../ports/files.ts'
import { attempt } from '../resources/resources.ts'
import { folderOf } from './approval.ts'

/** A file or directory below a directory of a session. */
export interface SessionFile {
  readonly uri: Uri
  readonly place: ContainedPath
}

/** Finds a path that an agent gave: absolute, or relative to the chat's first directory. The file need not exist. */
export function locate(session: Channel<'session'>, chat: Channel<'chat'>, path: string): SessionFile {
  const { workingDirectories = [] } = session.head
  const roots = workingDirectories.flatMap((directory) => pathIn(directory) ?? [])
  const base = pathIn(folderOf(session, chat) ?? '')
  if (base === undefined) throw new TurnFailed('files', 'this session has no working directory')
  const below = path === '' || path === '.' ? base : `${base}/${path}`
  const uri = fileUri(path.startsWith('/') ? path : below)
  const named = pathIn(uri)
  if (named === undefined) throw new TurnFailed('files', `${quoted(path)} is not a valid path`)
  if (!roots.some((root) => isIn(named, root)))
    throw new TurnFailed('files', `${quoted(path)} is outside the directories of this session`)
  return { uri, place: { path: named, roots } }
}

export function listEntries(core: Core, file: SessionFile): Promise<readonly FileEntry[]> {
  return use(core, file, 'read', (files) => files.list(file.place, core.limits.entries))
}

export function readBytes(core: Core, file: SessionFile, max = core.limits.readBytes): Promise<Uint8Array> {
  return use(core, file, 'read', (files) => files.read(file.place, max))
}

export async function readBytesIfAny(core: Core, file: SessionFile): Promise<Uint8Array | undefined> {
  return (await etagOf(core, file)) === undefined ? undefined : readBytes(core, file)
}

/** The etag of a file; undefined if there is no file. */
export async function etagOf(core: Core, file: SessionFile): Promise<string | undefined> {
  return (await statOf(core, file))?.etag
}

/**
 * Writes a file, unless it has changed since `etag` was read. Without an `etag` the file and its parent directory are
 * created.
 */
export async function writeBytes(
  core: Core,
  file: SessionFile,
  bytes: Uint8Array,
  etag: string | undefined,
): Promise<void> {
  const condition = etag === undefined ? { createOnly: true } : { ifMatch: etag }
  if (etag === undefined) await makeParent(core, file)
  await use(core, file, 'write', (files) => files.write(file.place, bytes, condition))
}

/** The URI of a file after all symbolic links are followed. Path segments that do not exist yet are kept as they are. */
export async function realUri(core: Core, { uri, place: { path, roots } }: SessionFile): Promise<Uri> {
  for (let at = path; roots.some((root) => isIn(at, root)); at = at.slice(0, at.lastIndexOf('/'))) {
    const stat = await statOf(core, { uri, place: { path: at, roots } })
    if (stat) return fileUri(stat.path + path.slice(at.length))
  }
  return uri
}

export function quoted(path: string): string {
  return JSON.stringify(path.slice(0, 200))
}

function pathIn(uri: Uri): string | undefined {
  const named = pathOf(uri)
  return named.ok ? named.path : undefined
}

async function statOf(core: Core, file: SessionFile): Promise<FileStat | undefined> {
  try {
    return await attempt(core, file.uri, 'read', (files) => files.stat(file.place, true))
  } catch (error) {
    if (error instanceof AhpError && error.code === errorCodes.NotFound) return undefined
    throw turnFailure(error)
  }
}

async function makeParent(core: Core, { uri, place: { path, roots } }: SessionFile): Promise<void> {
  const parent = { uri, place: { path: path.slice(0, path.lastIndexOf('/')), roots } }
  if (roots.includes(parent.place.path) || (await statOf(core, parent))) return
  await use(core, parent, 'write', (files) => files.change({ kind: 'make', place: parent.place }))
}

/** Runs an operation on a file. Its errors become `TurnFailed` errors, whose messages tools and users read. */
async function use<T>(
  core: Core,
  { uri }: SessionFile,
  access: Access,
  task: (files: Files) => Promise<T>,
): Promise<T> {
  try {
    return await attempt(core, uri, access, task)
  } catch (error) {
    throw turnFailure(error)
  }
}

function turnFailure(error: unknown): unknown {
  return error instanceof AhpError ? new TurnFailed('files', error.message) : error
}
