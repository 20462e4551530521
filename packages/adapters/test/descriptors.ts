import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/** What files this process has open, by their paths. */
export function descriptors(): readonly string[] {
  if (!existsSync('/proc/self/fd')) return []
  return readdirSync('/proc/self/fd')
    .map(pathOf)
    .filter((path) => path.startsWith('/') && !path.startsWith('/proc'))
    .toSorted()
}

/** The one that lists them is gone by now. */
function pathOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
