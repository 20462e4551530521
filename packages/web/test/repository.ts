import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether this machine has git. */
export const hasGit = !spawnSync('git', ['--version']).error

/** Makes a repository of a folder, with one commit of these files. Returns a function that runs git there. */
export function makeRepository(
  folder: string,
  files: { readonly [path: string]: string },
): (...args: readonly string[]) => string {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: folder, stdio: 'pipe' }).toString().trim()
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Ann')
  git('config', 'user.email', 'ann@example.com')
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  git('add', '-A')
  git('commit', '-qm', 'first')
  return git
}
