import { limits } from '@atrium/protocol/limits'
import type { ShadowGitDir } from './shadow-git-dir.ts'

/**
 * Returns the paths that git ignores. `check-ignore` stops at the first path that it cannot check (behind a link, in
 * a submodule). Such a path counts as not ignored, and git is asked again for the paths after it.
 */
export async function ignoredAmong(
  shadow: ShadowGitDir,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const ignored = new Set<string>()
  let rest = paths.filter(isBelowRoot)
  for (let unchecked = 0; rest.length > 0; unchecked++) {
    if (unchecked > limits.vcsOddPaths) throw new Error('git cannot check so many of these paths')
    const { stdout, exitCode } = await shadow.tryRun(command, rest.map((path) => `./${path}\0`).join(''))
    const verdicts = parseVerdicts(stdout)
    for (const [i, path] of rest.entries()) if (verdicts[i]) ignored.add(path)
    // Exit code 0: some of the paths are ignored. 1: none is ignored. Any other code: git stopped at the path after the
    // last verdict.
    if (exitCode === 0 || exitCode === 1) break
    rest = rest.slice(verdicts.length + 1)
  }
  return ignored
}

/** `--non-matching` gives a record for every path, so that the number of records tells where git stopped. */
const command = ['check-ignore', '-z', '--stdin', '--verbose', '--non-matching']

/**
 * Returns for each record whether its path is ignored. A record has four fields: source of the rule, line, rule,
 * path. The source is empty if no rule matches the path. A rule that starts with `!` says that the path is not
 * ignored.
 */
function parseVerdicts(stdout: Buffer): readonly boolean[] {
  const fields = stdout.toString().split('\0')
  const verdicts: boolean[] = []
  for (let i = 0; i + 3 < fields.length; i += 4)
    verdicts.push(fields[i] !== '' && !fields[i + 2]?.startsWith('!'))
  return verdicts
}

function isBelowRoot(path: string): boolean {
  return path !== '' && !path.includes('\0') && !path.startsWith('/') && !path.split('/').includes('..')
}
