import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/** The paths of the files that this process has open. */
export function descriptors(): readonly string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd')
    .map(pathOf)
    .filter((path) => path.startsWith('/') && !path.startsWith('/proc'))
    .toSorted()
}

/**
 * Returns the path of an open file. The path is empty for the descriptor that was used to list the directory, because it is
 * closed by now.
 */
function pathOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
