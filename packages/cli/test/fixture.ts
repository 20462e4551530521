import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentSettings } from '@atrium/adapters/acp/registry'
import { Window } from '../../adapters/test/terminal-window.ts'
import { atrium, bin } from './command.ts'
import type { Ended } from './command.ts'
import { HostProcess } from './host-process.ts'

/** A host process, a working directory, and terminal windows in which commands run. */
export class CliFixture {
  readonly home = mkdtempSync(join(tmpdir(), 'atrium-cli-'))
  readonly work = join(this.home, 'work')
  readonly #windows = new Set<Window>()
  #host: HostProcess | undefined

  constructor() {
    mkdirSync(this.work)
  }

  async open(agents?: AgentSettings): Promise<this> {
    this.#host = await HostProcess.start(this.home, undefined, agents)
    return this
  }

  get host(): HostProcess {
    if (!this.#host) throw new Error('the host is not started')
    return this.#host
  }

  /** Kills the host with SIGKILL. */
  async kill(): Promise<void> {
    await this.#host?.kill()
  }

  /** Runs a command to its end, without a terminal. */
  run(args: readonly string[], given: { env?: NodeJS.ProcessEnv; input?: string } = {}): Promise<Ended> {
    return atrium(this.home, args, { cwd: this.work, ...given })
  }

  /** Runs a command in a new terminal window. `line` is appended to the command line of the shell. */
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

  /** Closes all windows. After a failed test, prints their last content. */
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
