import { homedir } from 'node:os'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { sanitize } from '../terminal/output.ts'

/** The first folder of a session, with `~` for the home folder, and the number of the others. */
export function folderOf(
  { workingDirectories = [] }: Pick<SessionSummary, 'workingDirectories'>,
  home = homedir(),
): string {
  const [first, ...others] = workingDirectories
  const found = first === undefined ? undefined : pathOf(first)
  const path = found?.ok ? found.path : (first ?? '')
  const short = path === home ? '~' : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
  const cut = short.length > longestFolder ? `…${short.slice(1 - longestFolder)}` : short
  return sanitize(others.length === 0 ? cut : `${cut} +${others.length}`)
}

const longestFolder = 28

/** Returns the age in the largest unit that is not zero. */
export function ago(then: Date, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - then.getTime()) / 1000))
  const units: readonly (readonly [number, string])[] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'm'],
  ]
  const unit = units.find(([size]) => seconds >= size)
  return unit ? `${Math.floor(seconds / unit[0])}${unit[1]}` : 'now'
}
