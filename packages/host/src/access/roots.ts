import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import { decode } from '@atrium/protocol/schema'
import { rootUri } from '@atrium/protocol/uri'
import type { Core } from '../core/core.ts'
import { Grants } from './grants.ts'
import type { ContainedPath } from '../ports/files.ts'

/** `browse`: to see which directories there are, without looking into a file. */
export type Access = 'read' | 'write' | 'browse'

/**
 * Where a URI may be touched: in the directories of sessions and in those that were granted. Whether it really is in one
 * of them is decided when it is opened; what is not even by its name is refused without a look at the disk.
 */
export function containedPath(core: Core, uri: Uri, use: Access): ContainedPath {
  const named = pathOf(uri)
  if (!named.ok) throw AhpError.invalidParams(`${JSON.stringify(uri.slice(0, 200))}: ${named.problem}`)
  const roots = rootsFor(core, use)
  if (!roots.some((root) => isIn(named.path, root))) throw notGranted(uri, use)
  return { path: named.path, roots }
}

/** It carries what would have to be asked for. */
export function notGranted(uri: Uri, use: Access): AhpError {
  const request = use === 'write' ? { uri, read: true, write: true } : { uri, read: true }
  return AhpError.permissionDenied('this is in no directory that may be used: it has to be granted', request)
}

function rootsFor(core: Core, use: Access): readonly string[] {
  const granted = grantsOf(core).filter(({ write }) => use !== 'write' || write === true)
  const uris = new Set([...core.catalog.directories, ...granted.map(({ uri }) => uri)])
  if (use === 'browse' && core.defaultDirectory !== undefined) uris.add(core.defaultDirectory)
  return [...uris].flatMap((uri) => {
    const { ok, ...rest } = pathOf(uri)
    return ok ? [(rest as { path: string }).path] : []
  })
}

function grantsOf(core: Core) {
  const values = core.log.channel(rootUri, 'root')?.head?.config?.values ?? {}
  const decoded = decode(Grants, values['atrium.grants'] ?? [])
  return decoded.ok ? decoded.value : []
}

/** By whole names, never by the beginning of a text. */
export function isIn(path: string, root: string): boolean {
  return path === root || path.startsWith(root === '/' ? root : `${root}/`)
}
