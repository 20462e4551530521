import { pathOf } from '@atrium/protocol/file-uri'
import { isJsonObject } from '@atrium/protocol/json'
import type { SessionState } from '@atrium/protocol/session/state'

/**
 * The worktree in which a session works, as a text: its branch and its main checkout. Undefined for a session without
 * a worktree of its own, and for a host that has no worktrees.
 */
export function worktreeText({ _meta }: Partial<Pick<SessionState, '_meta'>>): string | undefined {
  const own = _meta?.['x-atrium']
  const worktree = isJsonObject(own) ? own['worktree'] : undefined
  if (!isJsonObject(worktree)) return undefined
  const { branch, main } = worktree
  if (typeof branch !== 'string' || typeof main !== 'string') return undefined
  const folder = pathOf(main)
  return `branch ${branch} of ${folder.ok ? folder.path : main}`
}
