import { join } from 'node:path'

/** The folder of a host's worktrees and their records. Commands that apply a worktree use the same one. */
export function worktreesFolder(data: string): string {
  return join(data, 'worktrees')
}
