import { homedir } from 'node:os'
import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'

/** Returns the paths of working directories. Without any, an agent works in the home folder. */
export function foldersOf(directories: readonly Uri[] = []): readonly [string, ...string[]] {
  const [first = homedir(), ...others] = directories.flatMap((uri) => {
    const parsed = pathOf(uri)
    return parsed.ok ? [parsed.path] : []
  })
  return [first, ...others]
}
