import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { basename, isAbsolute } from 'node:path'
import type { Variables } from '../process/environment.ts'

/** The first that can be run: the one wished for, the user's own, one that is always there. */
export function shellOf(wished: string | undefined, env: Variables): string {
  if (process.platform === 'win32') return wished ?? env['ComSpec'] ?? 'cmd.exe'
  if (wished !== undefined && !runs(wished)) throw new Error(`there is no shell at ${wished}`)
  const found = [wished, env['SHELL'], '/bin/bash', '/bin/sh'].find((path) => path && runs(path))
  if (!found) throw new Error('there is no shell on this machine')
  return found
}

/** How it is started for one line, which is never read by another shell before. */
export function lineArgs(shell: string, line: string): string[] {
  const name = shellName(shell)
  if (name === 'cmd') return ['/d', '/s', '/c', line]
  if (name === 'powershell' || name === 'pwsh') return ['-NoLogo', '-Command', line]
  // A line may begin with a dash; fish takes whatever follows.
  return name === 'fish' ? ['-c', line] : ['-c', '--', line]
}

/** What it is called, which decides how it is spoken to. */
export const shellName = (path: string) =>
  basename(path)
    .replace(/\.exe$/i, '')
    .replace(/^-/, '')

function runs(path: string): boolean {
  if (!isAbsolute(path)) return false
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() && shellLike(path)
  } catch {
    return false
  }
}

/** `/bin/false` and its like keep people out where they stand for a shell. */
function shellLike(path: string): boolean {
  return !['false', 'true', 'nologin'].includes(basename(path)) || listed(path)
}

function listed(path: string): boolean {
  try {
    return readFileSync('/etc/shells', 'utf8').split('\n').includes(path)
  } catch {
    return false
  }
}
