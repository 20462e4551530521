import { machinesOf } from '../../catalog/machines.ts'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import { decode } from '@atrium/protocol/schema'
import { rootUri } from '@atrium/protocol/uri'
import type { Core } from '../../kernel/core.ts'
import { Grants } from './folder-grants.ts'
import type { ContainedPath } from '../../ports/files.ts'

/** `browse` is the right to list directories without reading any file. */
export type Access = 'read' | 'write' | 'browse'

/**
 * Returns the path of a URI, and the directories that the path must be in: those of sessions and those granted. A path whose
 * text is outside all of them is refused without touching the disk. Symbolic links are checked when the path is opened.
 */
export function containedPath(core: Core, uri: Uri, use: Access): ContainedPath {
  const named = pathOf(uri)
  if (!named.ok) throw AhpError.invalidParams(`${JSON.stringify(uri.slice(0, 200))}: ${named.problem}`)
  const roots = rootsFor(core, use)
  if (!roots.some((root) => isIn(named.path, root))) throw notGranted(uri, use)
  return { path: named.path, roots }
}

/** The error for a path outside all permitted directories. It contains the request that would grant the access. */
export function notGranted(uri: Uri, use: Access): AhpError {
  const request = use === 'write' ? { uri, read: true, write: true } : { uri, read: true }
  return AhpError.permissionDenied(
    'this is outside the sessions’ directories and the granted ones: it must be granted first',
    request,
  )
}

function rootsFor(core: Core, use: Access): readonly string[] {
  const granted = grantsOf(core).filter(({ write }) => use !== 'write' || write === true)
  const uris = new Set([...machinesOf(core).directories, ...granted.map(({ uri }) => uri)])
  if (use === 'browse' && core.about.defaultDirectory !== undefined) uris.add(core.about.defaultDirectory)
  return [...uris].flatMap((uri) => {
    const named = pathOf(uri)
    return named.ok ? [named.path] : []
  })
}

function grantsOf(core: Core) {
  const values = core.log.channel(rootUri, 'root')?.head?.config?.values ?? {}
  const decoded = decode(Grants, values['atrium.grants'] ?? [])
  return decoded.ok ? decoded.value : []
}

/** Whether a path is `root` itself or below it. Compares whole names: `/a/bc` is not in `/a/b`. */
export function isIn(path: string, root: string): boolean {
  return path === root || path.startsWith(root === '/' ? root : `${root}/`)
}
