import { join } from 'node:path'
import { readSmallFile } from '../git/repository.ts'
import { withShadowGitDir } from '../git/shadow-git-dir.ts'
import type { ShadowGitDir } from '../git/shadow-git-dir.ts'
import { emptyTree } from './objects/trees.ts'
import type { Place } from './place.ts'
import type { CaptureTools } from './tools.ts'

/**
 * Returns the tree of a commit of the user's repository: of HEAD, or of the commit from which the branch started. If
 * the folder is only a part of the working tree, returns the tree of this part. Without a commit, returns the empty
 * tree.
 */
export async function treeOfCommit(
  { git, user }: CaptureTools,
  place: Place,
  of: 'head' | 'branch',
): Promise<string> {
  const { repository, prefix, format } = place
  const none = emptyTree[format]
  if (!repository) return none
  return withShadowGitDir(git, repository, user, async (shadow) => {
    const head = await nameIn(shadow, ['rev-parse', '--verify', '-q', 'HEAD^{commit}'])
    if (head === undefined) return none
    const branch = /^ref: refs\/heads\/(.+?)\n?$/.exec(readSmallFile(join(repository.gitDir, 'HEAD')) ?? '')
    const commit = of === 'head' ? head : await startOfBranch(shadow, head, branch?.[1])
    const tree = prefix === '' ? `${commit}^{tree}` : `${commit}:${prefix.slice(0, -1)}`
    return (await nameIn(shadow, ['rev-parse', '--verify', '-q', tree])) ?? none
  })
}

/** Returns the commit that the current branch has in common with its upstream branch or else with the main branch. */
async function startOfBranch(
  shadow: ShadowGitDir,
  head: string,
  current: string | undefined,
): Promise<string> {
  const main = ['origin/HEAD', 'origin/main', 'origin/master'].map((name) => `refs/remotes/${name}`)
  const local = ['main', 'master'].filter((name) => name !== current).map((name) => `refs/heads/${name}`)
  for (const other of ['@{upstream}', ...main, ...local]) {
    const commit = await nameIn(shadow, ['rev-parse', '--verify', '-q', `${other}^{commit}`])
    const common = commit === undefined ? undefined : await nameIn(shadow, ['merge-base', head, commit])
    if (common !== undefined) return common
  }
  return head
}

async function nameIn(shadow: ShadowGitDir, args: readonly string[]): Promise<string | undefined> {
  const { stdout, exitCode } = await shadow.tryRun(args, '')
  const name = stdout.toString('latin1').trim()
  return exitCode === 0 && /^[\da-f]{40,64}$/.test(name) ? name : undefined
}
