import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { vi } from 'vitest'
import { startShell } from '../../host/src/ports/contracts/terminals.contract.ts'
import type { StartedShell } from '../../host/src/ports/contracts/terminals.contract.ts'
import { ptyTerminals } from '../src/terminals/terminals.ts'
import type { PtyOptions } from '../src/terminals/terminals.ts'
import { newFolder } from './store-folder.ts'

/** A home directory, and an environment in which HOME is this directory. */
export interface Home {
  readonly home: string
  readonly env: { readonly [name: string]: string }
}

/** Creates a home directory with these files. It is removed after the test. */
export function homeWith(files: { readonly [name: string]: string } = {}): Home {
  const home = realpathSync(newFolder())
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  return { home, env: { HOME: home, PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' } }
}

/** Runs a line of `sh` in a terminal of its own. */
export function line(command: string, options: PtyOptions = {}): Promise<StartedShell> {
  const { home, env } = homeWith()
  const terminals = ptyTerminals({ shell: '/bin/sh', env, ...options })
  return startShell(terminals, { cwd: home, cols: 80, rows: 24, command })
}

/** Waits until the condition is true. One that takes long, as a search through all processes does, is asked less often. */
export function until(condition: () => unknown): Promise<void> {
  const timeout = new Error(`timeout: ${condition.toString()}`)
  let due = 0
  const ask = async () => {
    const began = performance.now()
    if (began < due) throw timeout
    try {
      if (await condition()) return
    } finally {
      const now = performance.now()
      due = now + Math.min(10 * (now - began), 100)
    }
    throw timeout
  }
  return vi.waitFor(ask, { timeout: 200_000, interval: 5 })
}
