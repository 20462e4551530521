import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shellName } from './shell.ts'
import type { Variables } from '../process/environment.ts'

/** A startup script that makes a shell mark its commands: how to start the shell with it, and the secret in its marks. */
export interface ShellIntegration {
  readonly args: readonly string[]
  readonly env: Variables
  readonly nonce: string
  /** Removes the script, once the shell has read it. */
  remove(): void
}

/**
 * Writes the startup script of a shell into `folder`. Returns undefined if there is no script for the shell. Such a
 * shell may still send marks, if its user has configured it to.
 */
export function createIntegration(
  shell: string,
  folder: string,
  env: Variables,
): ShellIntegration | undefined {
  const prepare = scripts.get(shellName(shell))
  if (!prepare || process.platform === 'win32') return undefined
  const nonce = randomBytes(16).toString('hex')
  // The folder is in the temporary directory, where a cleaner may have removed it.
  mkdirSync(folder, { mode: 0o700, recursive: true })
  const own = mkdtempSync(join(folder, 'shell-'))
  const write = (name: string, lines: readonly string[], script: URL) => {
    const text = [`__atrium_nonce=${nonce}`, ...lines, readFileSync(script, 'utf8')].join('\n')
    writeFileSync(join(own, name), text, { mode: 0o600, flag: 'wx' })
  }
  return { ...prepare(own, env, write), nonce, remove: () => rmSync(own, { recursive: true, force: true }) }
}

type Write = (name: string, lines: readonly string[], script: URL) => void
type Prepare = (folder: string, env: Variables, write: Write) => Pick<ShellIntegration, 'args' | 'env'>

/** On macOS terminals start login shells, because only their startup files set PATH. */
const login = process.platform === 'darwin'

const scripts: ReadonlyMap<string, Prepare> = new Map<string, Prepare>([
  [
    'bash',
    (folder, _, write) => {
      write(
        'bashrc',
        login ? ['__atrium_login=1'] : [],
        new URL('../../src/terminals/bash.sh', import.meta.url),
      )
      return { args: ['--init-file', join(folder, 'bashrc')], env: {} }
    },
  ],
  [
    'zsh',
    (folder, { ZDOTDIR: own }, write) => {
      const lines = own === undefined ? [] : [`__atrium_zdotdir='${own.replaceAll("'", `'\\''`)}'`]
      write('.zshenv', lines, new URL('../../src/terminals/zsh.sh', import.meta.url))
      return { args: login ? ['-l'] : [], env: { ZDOTDIR: folder } }
    },
  ],
])
