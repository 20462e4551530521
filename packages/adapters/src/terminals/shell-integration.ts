import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shellName } from './shell.ts'
import type { Variables } from '../process/environment.ts'

/** What makes a shell tell of its commands: how to start it, and the word by which it is known. */
export interface Integration {
  readonly args: readonly string[]
  readonly env: Variables
  readonly nonce: string
  /** When the shell has read it. */
  remove(): void
}

/** None for shells that we have nothing for: they may make marks by themselves. */
export function integrationOf(shell: string, folder: string, env: Variables): Integration | undefined {
  const make = makers.get(shellName(shell))
  if (!make || process.platform === 'win32') return undefined
  const nonce = randomBytes(16).toString('hex')
  // Somebody may have tidied up meanwhile.
  mkdirSync(folder, { mode: 0o700, recursive: true })
  const own = mkdtempSync(join(folder, 'shell-'))
  const write = (name: string, lines: readonly string[], script: URL) => {
    const text = [`__atrium_nonce=${nonce}`, ...lines, readFileSync(script, 'utf8')].join('\n')
    writeFileSync(join(own, name), text, { mode: 0o600, flag: 'wx' })
  }
  return { ...make(own, env, write), nonce, remove: () => rmSync(own, { recursive: true, force: true }) }
}

type Write = (name: string, lines: readonly string[], script: URL) => void
type Maker = (folder: string, env: Variables, write: Write) => Pick<Integration, 'args' | 'env'>

/** Terminals of macOS start login shells: paths are set nowhere else there. */
const login = process.platform === 'darwin'

const makers: ReadonlyMap<string, Maker> = new Map<string, Maker>([
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
