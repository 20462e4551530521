import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

/** Files that git opens in every repository whose branch is `main`. */
export const openedByGit: readonly string[] = [
  '.git/HEAD',
  '.git/index',
  '.git/refs/heads/main',
  '.git/config',
  '.git/packed-refs',
  '.git/info/exclude',
  '.git/info/attributes',
  '.git/objects/info/alternates',
  '.gitignore',
  '.gitattributes',
]

/** Puts a FIFO, for which a reader waits for ever, in the place of a file. */
export function putFifo(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  execFileSync('mkfifo', [path])
}
