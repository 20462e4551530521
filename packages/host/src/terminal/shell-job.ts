import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import type { Listener } from '../log/entry.ts'
import type { Shell, Start, TerminalOutput, Terminals } from '../ports/terminals.ts'
import { sleepWhenIdle } from '../channels/sleep.ts'
import type { Job } from '../core/jobs.ts'
import { withTimeout } from '../core/timeout.ts'

/** A shell at work behind a terminal: what it says becomes actions, and what is typed reaches it. */
export class ShellJob implements Job {
  readonly #core: Core
  readonly #channel: Channel<'terminal'>
  /** Resolves when the shell has ended. */
  readonly ended: Promise<void>
  #end = () => {}
  #shell: Shell | undefined
  #over = false
  #stopped = false
  #waiting = false
  /** Somebody has named it: what the shell calls itself is of no interest. */
  #named: boolean
  /** These were waited for as long as anybody is. */
  readonly #stalled = new Set<Listener>()

  constructor(core: Core, channel: Channel<'terminal'>, named: boolean) {
    this.#core = core
    this.#channel = channel
    this.#named = named
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** Only now, when it is durable that there is such a terminal. */
  async start(terminals: Terminals, start: Start): Promise<void> {
    try {
      if (this.#stopped) throw new Error('the terminal has gone')
      this.#shell = await terminals.start(start, (said) => this.#say(said))
    } catch (error) {
      this.#finish()
      throw error
    }
    if (this.#stopped) await this.#shell.end()
  }

  input(data: string): void {
    if (!this.#over) this.#shell?.input(data)
  }

  resize(cols: number, rows: number): void {
    if (!this.#over) this.#shell?.resize(cols, rows)
  }

  named(): void {
    this.#named = true
  }

  /** It says itself how it ended, if there is still somebody to hear it. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#over) return
    await this.#shell?.end()
    this.#finish()
  }

  #say(said: TerminalOutput): void {
    const { log } = this.#core
    if (this.#over) return
    if (log.channel(this.#channel.uri) !== this.#channel) {
      if (said.type === 'terminal/exited') this.#finish()
      return
    }
    if (this.#isOld(said)) return
    const { seq } = log.append(this.#channel, said)
    if (said.type === 'terminal/exited') this.#exit()
    else if (this.#crowded) void this.#wait(seq)
  }

  /** Shells say the same with every prompt. */
  #isOld(said: TerminalOutput): boolean {
    const { title, cwd } = this.#channel.head
    if (said.type === 'terminal/titleChanged') return this.#named || said.title === title
    return said.type === 'terminal/cwdChanged' && said.cwd === cwd
  }

  /** What it showed last is kept: of its output nothing else is. */
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

  /** Those who read slowly and have not been waited for already. */
  get #slow(): readonly Listener[] {
    for (const listener of this.#stalled) if (!listener.slow) this.#stalled.delete(listener)
    return [...this.#channel.listeners].filter((listener) => listener.slow && !this.#stalled.has(listener))
  }

  /** Its viewers, or the disk, cannot keep up with it. */
  get #crowded(): boolean {
    return this.#slow.length > 0 || this.#channel.uncommitted > this.#core.limits.untoldOutput
  }

  /** The program waits for whoever reads what it writes; but nobody can stop it for the others by not reading (F-40). */
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
