import { changesOf } from '../../catalog/change-tracking.ts'
import { pathOf } from '@atrium/protocol/file-uri'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { Listener } from '../../kernel/log/entry.ts'
import type { Shell, Start, TerminalOutput, Terminals } from '../../ports/terminals.ts'
import { sleepWhenIdle } from '../../channels/sleep.ts'
import type { Job } from '../../kernel/jobs.ts'
import { withTimeout } from '../../kernel/timeout.ts'

/** The shell of a terminal. Its output becomes actions, and input actions are passed to it. */
export class ShellJob implements Job {
  readonly #core: Core
  readonly #channel: Channel<'terminal'>
  /** Resolves when the shell has ended. */
  readonly ended: Promise<void>
  #end = () => {}
  #shell: Shell | undefined
  /** Whether the shell is being started. A shell that starts cannot be ended before it runs. */
  #starting = false
  /** Input that clients sent while the shell was starting. The shell gets it as soon as it runs. */
  readonly #early: string[] = []
  #earlyBytes = 0
  #over = false
  #stopped = false
  #waiting = false
  #outputLength = 0
  /** Whether a client has set the title. Titles that the shell sets are then ignored. */
  #named: boolean
  /** Subscribers that were still slow after `viewerMs`. */
  readonly #stalled = new Set<Listener>()

  constructor(core: Core, channel: Channel<'terminal'>, named: boolean) {
    this.#core = core
    this.#channel = channel
    this.#named = named
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** The number of characters that the shell has written. The terminal may have dropped some of them. */
  get outputLength(): number {
    return this.#outputLength
  }

  /** Starts the shell. The creation of the terminal must be committed before. */
  async start(terminals: Terminals, start: Start): Promise<void> {
    try {
      if (this.#stopped) throw new Error('the terminal has been disposed of')
      this.#starting = true
      this.#shell = await terminals.start(start, (output) => this.#append(output))
    } catch (error) {
      this.#finish()
      throw error
    } finally {
      this.#starting = false
    }
    if (this.#stopped) await this.stop()
    else this.#catchUp(this.#shell, start)
  }

  input(data: string): void {
    this.#used()
    if (this.#over) return
    if (this.#shell) this.#shell.input(data)
    else this.#keep(data)
  }

  resize(cols: number, rows: number): void {
    if (!this.#over) this.#shell?.resize(cols, rows)
  }

  named(): void {
    this.#named = true
  }

  /**
   * Ends the shell. If the terminal still exists, the exit is reported by the shell itself. A shell that is being started
   * is ended by `start`.
   */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#over) return
    if (this.#starting) return this.ended
    await this.#shell?.end()
    this.#finish()
  }

  /** Keeps input for a shell that does not run yet, as much as a running shell keeps for its program (M2). */
  #keep(data: string): void {
    const bytes = this.#earlyBytes + utf8.encode(data).length
    if (bytes > this.#core.limits.terminalTyped) return
    this.#earlyBytes = bytes
    this.#early.push(data)
  }

  /** Gives a shell that runs now the size and the input that came while it started. */
  #catchUp(shell: Shell, start: Start): void {
    const { cols = start.cols, rows = start.rows } = this.#channel.head
    if (this.#over) return
    if (cols !== start.cols || rows !== start.rows) shell.resize(cols, rows)
    for (const data of this.#early.splice(0)) shell.input(data)
  }

  #append(output: TerminalOutput): void {
    const { log } = this.#core
    if (this.#over) return
    if (output.type === 'terminal/data') this.#outputLength += output.data.length
    if (log.channel(this.#channel.uri) !== this.#channel) {
      if (output.type === 'terminal/exited') this.#finish()
      return
    }
    if (this.#isUnchanged(output)) return
    this.#used()
    const { seq } = log.append(this.#channel, output)
    if (output.type === 'terminal/exited') this.#exit()
    else if (this.#isAhead) void this.#wait(seq)
  }

  /** Tells the running turns that this terminal may have changed files. */
  #used(): void {
    const changes = changesOf(this.#core)
    if (!changes) return
    const { cwd, claim } = this.#channel.head
    const named = cwd === undefined ? undefined : pathOf(cwd)
    const holder = claim.kind === 'session' && claim.toolCallId !== undefined ? claim.chat : undefined
    if (named?.ok) changes.terminalUsed(named.path, holder)
  }

  /** Whether output would change neither the title nor the directory. Shells repeat both with every prompt. */
  #isUnchanged(output: TerminalOutput): boolean {
    const { title, cwd } = this.#channel.head
    if (output.type === 'terminal/titleChanged') return this.#named || output.title === title
    return output.type === 'terminal/cwdChanged' && output.cwd === cwd
  }

  /** Stores the screen as it is when the shell exits. Earlier output is not stored. */
  #exit(): void {
    this.#core.log.scheduleFlush(this.#channel)
    this.#finish()
    sleepWhenIdle(this.#core, this.#channel)
  }

  #finish(): void {
    this.#over = true
    this.#core.jobs.end(this.#channel.uri, this)
    this.#end()
  }

  /** The slow subscribers, except those that were still slow when the last wait for them ended. */
  get #slow(): readonly Listener[] {
    for (const listener of this.#stalled) if (!listener.slow) this.#stalled.delete(listener)
    return [...this.#channel.listeners].filter((listener) => listener.slow && !this.#stalled.has(listener))
  }

  /** Whether the subscribers, or the disk, cannot keep up with the output. */
  get #isAhead(): boolean {
    return this.#slow.length > 0 || this.#channel.uncommitted > this.#core.limits.untoldOutput
  }

  /**
   * Pauses the program until its subscribers have caught up, but at most for `viewerMs`: one slow subscriber must not stop
   * the program for all others (F-40).
   */
  async #wait(seq: number): Promise<void> {
    if (this.#waiting) return
    this.#waiting = true
    this.#shell?.pause()
    const { log, world, limits } = this.#core
    await log.reached(seq)
    const slow = this.#slow
    const drained = Promise.all(slow.map(async (listener) => listener.drained?.()))
    await withTimeout<unknown>(world, limits.viewerMs, drained, () => {})
    for (const listener of slow) if (listener.slow) this.#stalled.add(listener)
    this.#waiting = false
    if (!this.#over) this.#shell?.resume()
  }
}

const utf8 = new TextEncoder()
