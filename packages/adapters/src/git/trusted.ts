import { join } from 'node:path'
import { readUserConfig } from './config.ts'
import type { GitUser } from './config.ts'
import { findRepository } from './repository.ts'
import type { Repository } from './repository.ts'
import type { GitRunner } from './run.ts'

/** Returns the user who runs this process. */
export function currentUser(): GitUser {
  const home = process.env['HOME'] ?? ''
  return { home, configHome: process.env['XDG_CONFIG_HOME'] ?? join(home, '.config') }
}

/**
 * Finds the repository of a directory. A repository of another user is ignored, unless `safe.directory` allows it:
 * that user may have prepared it as a trap.
 */
export async function trustedRepository(
  git: GitRunner,
  directory: string,
  user: GitUser,
): Promise<Repository | undefined> {
  return trusted(git, await findRepository(directory), user)
}

/** Returns the repository if it belongs to this user, or if `safe.directory` allows it. */
export async function trusted(
  git: GitRunner,
  repository: Repository | undefined,
  user: GitUser,
): Promise<Repository | undefined> {
  if (!repository) return undefined
  const me = process.getuid?.()
  if (me === undefined || repository.owners.every((owner) => owner === me)) return repository
  const { root } = repository
  const { safeDirectories: safe } = await readUserConfig(git, user)
  const isSafe = (path: string) =>
    path === '*' || path === root || (path.endsWith('/*') && root.startsWith(path.slice(0, -1)))
  // An empty value of `safe.directory` cancels the values before it.
  return safe.slice(safe.lastIndexOf('') + 1).some(isSafe) ? repository : undefined
}
