import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { vi } from 'vitest'
import { listen } from '../../host/src/ports/terminals.contract.ts'
import type { Listened } from '../../host/src/ports/terminals.contract.ts'
import { ptyTerminals } from '../src/terminals/terminals.ts'
import type { PtyOptions } from '../src/terminals/terminals.ts'
import { newFolder } from './store-folder.ts'

/** Somebody's home, with what files it holds, and an environment that leads there. */
export interface Home {
  readonly home: string
  readonly env: { readonly [name: string]: string }
}

export function homeWith(files: { readonly [name: string]: string } = {}): Home {
  const home = realpathSync(newFolder())
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  return { home, env: { HOME: home, PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' } }
}

/** A line of `sh`, alone in a terminal. */
export function line(command: string, options: PtyOptions = {}): Promise<Listened> {
  const { home, env } = homeWith()
  const terminals = ptyTerminals({ shell: '/bin/sh', env, ...options })
  return listen(terminals, { cwd: home, cols: 80, rows: 24, command })
}

/** Waits until it is so. */
export const until = (so: () => unknown) =>
  vi.waitFor(
    async () => {
      if (!(await so())) throw new Error(`it never came to be: ${so.toString()}`)
    },
    { timeout: 100_000, interval: 5 },
  )
