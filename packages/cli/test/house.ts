import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentSettings } from '@atrium/adapters/acp/registry'
import { Window } from '../../adapters/test/window.ts'
import { atrium, bin } from './command.ts'
import type { Ended } from './command.ts'
import { Life } from './life.ts'

/** A host that can die, a folder to work in, and as many windows as a test wants. */
export class House {
  readonly home = mkdtempSync(join(tmpdir(), 'atrium-house-'))
  readonly work = join(this.home, 'work')
  readonly #windows = new Set<Window>()
  #life: Life | undefined

  constructor() {
    mkdirSync(this.work)
  }

  async open(agents?: AgentSettings): Promise<this> {
    this.#life = await Life.begin(this.home, undefined, agents)
    return this
  }

  get life(): Life {
    if (!this.#life) throw new Error('nobody is at home')
    return this.#life
  }

  /** Without a word. */
  async kill(): Promise<void> {
    await this.#life?.kill()
  }

  /** The command to its end, without a terminal. */
  run(args: readonly string[], given: { env?: NodeJS.ProcessEnv; input?: string } = {}): Promise<Ended> {
    return atrium(this.home, args, { cwd: this.work, ...given })
  }

  /** The command in a window of its own. */
  window(
    args: readonly string[],
    given: { env?: NodeJS.ProcessEnv; cols?: number; rows?: number; line?: string } = {},
  ): Window {
    const env = {
      PATH: process.env['PATH'],
      HOME: this.home,
      ATRIUM_HOME: `${this.home}/data`,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      ...given.env,
    }
    const words = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    const line = `${words.join(' ')} ${given.line ?? ''}`
    const { cols = 80, rows = 24 } = given
    const window = new Window(line, { cwd: this.work, env, cols, rows })
    this.#windows.add(window)
    return window
  }

  /** What was to be read in them last is said of a test that failed. */
  closeWindows(failed = false): void {
    for (const window of this.#windows) {
      if (failed) process.stderr.write(`--- a window\n${window.text}\n---\n`)
      window.close()
    }
    this.#windows.clear()
  }

  async close(): Promise<void> {
    this.closeWindows()
    await this.kill()
    rmSync(this.home, { recursive: true, force: true })
  }
}
