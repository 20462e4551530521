import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { basename, isAbsolute } from 'node:path'
import type { Variables } from '../process/environment.ts'

/** Returns the configured shell, else the first of these that can be run: the user's shell, bash, sh. */
export function findShell(configured: string | undefined, env: Variables): string {
  if (process.platform === 'win32') return configured ?? env['ComSpec'] ?? 'cmd.exe'
  if (configured !== undefined && !isShell(configured)) throw new Error(`there is no shell at ${configured}`)
  const found = [configured, env['SHELL'], '/bin/bash', '/bin/sh'].find((path) => path && isShell(path))
  if (!found) throw new Error('there is no shell on this machine')
  return found
}

/**
 * Returns the arguments that make a shell run one line. The line goes to this shell as it is: no other shell parses
 * it first.
 */
export function commandArgs(shell: string, line: string): string[] {
  const name = shellName(shell)
  if (name === 'cmd') return ['/d', '/s', '/c', line]
  if (name === 'powershell' || name === 'pwsh') return ['-NoLogo', '-Command', line]
  // `--` is needed because a line may start with a dash. fish needs no `--`: it always takes the argument after `-c` as
  // the line.
  return name === 'fish' ? ['-c', line] : ['-c', '--', line]
}

/** Returns the name of a shell. It decides which arguments and which integration script the shell gets. */
export const shellName = (path: string) =>
  basename(path)
    .replace(/\.exe$/i, '')
    .replace(/^-/, '')

function isShell(path: string): boolean {
  if (!isAbsolute(path)) return false
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() && allowsLogin(path)
  } catch {
    return false
  }
}

/** Whether a shell lets its user log in. Accounts without login have `/bin/false` or the like as their shell. */
function allowsLogin(path: string): boolean {
  return !['false', 'true', 'nologin'].includes(basename(path)) || isInEtcShells(path)
}

function isInEtcShells(path: string): boolean {
  try {
    return readFileSync('/etc/shells', 'utf8').split('\n').includes(path)
  } catch {
    return false
  }
}
