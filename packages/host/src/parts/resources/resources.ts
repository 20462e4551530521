import { filesOf } from '../../catalog/machine.ts'
import type { Uri } from '@atrium/protocol/channel'
import { fromBase64 } from '@atrium/protocol/text/base64'
import type { Method, Params, Result } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import { compact } from '@atrium/protocol/update'
import { changeable } from '../../channels/names.ts'
import { contentTypeOf } from './content-type.ts'
import type { Core } from '../../kernel/core.ts'
import type { Link } from '../../kernel/link.ts'
import { askClient, isFile } from './client-files.ts'
import { withTimeout } from '../../kernel/timeout.ts'
import { FileError } from '../../ports/files.ts'
import type { Change, Files, ContainedPath, Write } from '../../ports/files.ts'
import { notGranted, containedPath } from '../access/roots.ts'
import type { Access } from '../access/roots.ts'

type Answer<M extends Method> = Promise<Result<M>>

export async function resourceWrite(
  core: Core,
  link: Link,
  params: Params<'resourceWrite'>,
): Answer<'resourceWrite'> {
  const { uri, data, encoding, mode, position, createOnly, ifMatch } = params
  if (!isFile(uri)) return askClient(core, link, 'resourceWrite', params)
  const place = containedPath(core, uri, 'write')
  changeable(core)
  const bytes = encoding === 'base64' ? fromBase64(data) : new TextEncoder().encode(data)
  if (!bytes) throw AhpError.invalidParams('resourceWrite: data is not base64')
  const how = compact<Write>({ mode, position, createOnly, ifMatch })
  await attempt(core, uri, 'write', (files) => files.write(place, bytes, how))
  return {}
}

export async function resourceResolve(
  core: Core,
  link: Link,
  params: Params<'resourceResolve'>,
): Answer<'resourceResolve'> {
  const { uri, followSymlinks = true } = params
  if (!isFile(uri)) return askClient(core, link, 'resourceResolve', params)
  const place = containedPath(core, uri, 'browse')
  const stat = (where: ContainedPath) =>
    attempt(core, uri, 'read', (files) => files.stat(where, followSymlinks))
  const found = await stat(place)
  // Access to browse is enough for a directory; any other file needs access to read.
  if (found.type !== 'directory') await stat(containedPath(core, uri, 'read'))
  const { path, type, size, mtime, ctime, etag } = found
  return compact<Result<'resourceResolve'>>({
    uri: fileUri(path),
    type,
    size: type === 'file' ? size : undefined,
    mtime: new Date(mtime).toISOString(),
    ctime: new Date(ctime).toISOString(),
    contentType: type === 'file' ? contentTypeOf(path) : undefined,
    etag,
  })
}

export async function resourceMkdir(
  core: Core,
  link: Link,
  params: Params<'resourceMkdir'>,
): Answer<'resourceMkdir'> {
  if (!isFile(params.uri)) return askClient(core, link, 'resourceMkdir', params)
  return change(core, params.uri, { kind: 'make', place: containedPath(core, params.uri, 'write') })
}

export async function resourceDelete(
  core: Core,
  link: Link,
  params: Params<'resourceDelete'>,
): Answer<'resourceDelete'> {
  const { uri, recursive = false } = params
  if (!isFile(uri)) return askClient(core, link, 'resourceDelete', params)
  return change(core, uri, { kind: 'remove', place: containedPath(core, uri, 'write'), recursive })
}

export function resourceCopy(core: Core, params: Params<'resourceCopy'>): Answer<'resourceCopy'> {
  return copyOrMove(core, 'copy', params)
}

export function resourceMove(core: Core, params: Params<'resourceMove'>): Answer<'resourceMove'> {
  return copyOrMove(core, 'move', params)
}

/** Succeeds if the access is granted already. Otherwise the error contains the grant that is missing. */
export function resourceRequest(
  core: Core,
  { uri, write }: Params<'resourceRequest'>,
): Result<'resourceRequest'> {
  containedPath(core, uri, write ? 'write' : 'read')
  return {}
}

async function copyOrMove(
  core: Core,
  kind: 'copy' | 'move',
  params: Params<'resourceCopy'>,
): Answer<'resourceCopy'> {
  const { source, destination, failIfExists = false } = params
  if (!isFile(source) || !isFile(destination))
    throw AhpError.invalidParams(`only file: URIs can be ${kind === 'copy' ? 'copied' : 'moved'}`)
  const from = containedPath(core, source, kind === 'move' ? 'write' : 'read')
  const to = containedPath(core, destination, 'write')
  return change(core, destination, { kind, from, to, failIfExists })
}

async function change(core: Core, uri: Uri, what: Change): Promise<Record<never, never>> {
  changeable(core)
  await attempt(core, uri, 'write', (files) => files.change(what))
  return {}
}

/** Runs a file operation. A `FileError` becomes an AHP error, and an operation that hangs fails after `fileMs`. */
export async function attempt<T>(
  core: Core,
  uri: Uri,
  use: Access,
  task: (files: Files) => Promise<T>,
): Promise<T> {
  const files = filesOf(core)
  if (!files) throw new AhpError(errorCodes.MethodNotFound, 'this host serves no files')
  const { world, limits } = core
  try {
    return await withTimeout(world, limits.fileMs, task(files), () => {
      throw new AhpError(errorCodes.InternalError, 'the file system does not answer in time')
    })
  } catch (error) {
    throw error instanceof FileError ? fileErrorToAhp(error, uri, use) : error
  }
}

function fileErrorToAhp({ reason, message }: FileError, uri: Uri, use: Access): AhpError {
  switch (reason) {
    case 'missing':
      return AhpError.notFound(message)
    case 'outside':
      return notGranted(uri, use)
    case 'exists':
      return AhpError.alreadyExists(message)
    case 'changed':
      return AhpError.conflict(message)
    case 'unfit':
      return AhpError.invalidParams(message)
    case 'refused':
      return AhpError.permissionDenied(message)
  }
}
