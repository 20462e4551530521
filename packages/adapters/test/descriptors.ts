import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/** The paths of the files that this process has open. */
export function descriptors(): readonly string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd')
    .map(pathOf)
    .filter((path) => path.startsWith('/') && !path.startsWith('/proc'))
    .toSorted()
}

/** Empty for the descriptor that listed the directory: it is closed by now. */
function pathOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
