import type { Uri } from '@atrium/protocol/channel'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import { isIn } from '../access/roots.ts'
import type { Core } from '../../kernel/core.ts'
import { sessionOf } from '../../catalog/lookup.ts'
import type { Channel } from '../../kernel/log/channel.ts'

/** The paths of a chat's working directories: its own, else those of its session. */
export function directoriesOf(core: Core, chat: Channel<'chat'>): readonly string[] {
  return pathsIn(chat.head.workingDirectories ?? sessionOf(core, chat.uri)?.head.workingDirectories)
}

/**
 * Converts the URIs of directories to paths. A directory within another one is left out, because the other one
 * contains its files.
 */
export function pathsIn(uris: readonly Uri[] = []): readonly string[] {
  const paths = uris.flatMap((uri) => {
    const named = pathOf(uri)
    return named.ok ? [named.path] : []
  })
  return paths.filter(
    (path, at) => !paths.some((other, place) => (other === path ? place < at : isIn(path, other))),
  )
}

/**
 * The path of a changeset's file in a folder; undefined if the file is in another folder. The URI must be one that `fileUri`
 * has made.
 */
export function pathWithin(directory: string, uri: Uri): string | undefined {
  const prefix = `${fileUri(directory)}/`
  return uri.startsWith(prefix) ? decodeURIComponent(uri.slice(prefix.length)) : undefined
}
