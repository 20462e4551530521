import type { Core } from '../../kernel/core.ts'
import { withTimeout } from '../../kernel/timeout.ts'
import { CaptureFailed, CaptureRefused } from '../../ports/captures.ts'
import type { OtherHosts } from '../../ports/other-hosts.ts'
import type { CaptureBudget, CapturedChange, CaptureOptions, Captures } from '../../ports/captures.ts'

/**
 * A capture and its differences from an earlier capture. If no capture was taken: the reason, as a sentence for
 * users.
 */
export type Taken =
  | { readonly id: string; readonly changes: readonly CapturedChange[] }
  | { readonly problem: string; readonly isRefused: boolean }

/**
 * Takes captures within the limits of the host. As long as a capture is not recorded, no captured contents are
 * deleted.
 */
export class Taking {
  readonly otherHosts: OtherHosts | undefined
  readonly #captures: Captures
  readonly #core: Pick<Core, 'world' | 'limits'>
  /** The deletion of captured contents that runs now. New captures begin after it. Undefined if none runs. */
  #blocking: Promise<void> | undefined
  /** The captures that are being taken, or were taken and are not recorded yet. */
  readonly #open = new Set<object>()
  /** The captures that are being taken and compared now. */
  readonly #running = new Map<AbortController, Promise<unknown>>()
  /** The id of the newest capture of each folder. All are forgotten when contents are deleted. */
  readonly #latest = new Map<string, string>()
  #isStopped = false

  constructor(captures: Captures, core: Pick<Core, 'world' | 'limits'>, otherHosts?: OtherHosts) {
    this.otherHosts = otherHosts
    this.#captures = captures
    this.#core = core
  }

  get mostShared(): number {
    return this.#core.limits.sharedPaths
  }

  /**
   * Takes a capture of the files of a folder, and compares it with an earlier one. Never rejects: a turn goes on without a
   * capture.
   */
  async take(directory: string, since?: string): Promise<Taken> {
    const { world, limits } = this.#core
    while (this.#blocking) await this.#blocking
    const abort = new AbortController()
    const slow = () => {
      abort.abort()
      throw new CaptureFailed(`The files could not be recorded within ${limits.turnCaptureMs / 1000} s.`)
    }
    const taking = this.#whileRunning(abort, this.#take(directory, since, abort))
    try {
      return await withTimeout(world, limits.turnCaptureMs, taking, slow)
    } catch (error) {
      if (this.#isStopped) return never()
      if (error instanceof CaptureFailed)
        return { problem: error.message, isRefused: error instanceof CaptureRefused }
      world.report('a capture failed', error)
      return { problem: 'The files could not be recorded.', isRefused: false }
    }
  }

  /** The last capture of the files of a folder, if it is known and still exists. */
  latest(directory: string): string | undefined {
    return this.#latest.get(directory)
  }

  /** Captures a commit of a folder's repository. Rejects with a sentence for users. */
  async commit(directory: string, of: 'head' | 'branch'): Promise<string> {
    while (this.#blocking) await this.#blocking
    const abort = new AbortController()
    return this.#whileRunning(abort, this.#captured(directory, of, abort)).catch((error: unknown) => {
      if (this.#isStopped) return never()
      throw error
    })
  }

  /**
   * Stops the captures that are being taken, and waits until their programs have ended. No failure of these captures is
   * recorded: the next start takes them, as after a crash.
   */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const abort of this.#running.keys()) abort.abort()
    await Promise.allSettled(this.#running.values())
  }

  get #budget(): CaptureBudget {
    const { captureBytes: bytes, captureFiles: files, captureFileBytes: fileBytes } = this.#core.limits
    return { bytes, files, fileBytes }
  }

  async #take(directory: string, since: string | undefined, abort: AbortController): Promise<Taken> {
    const id = await this.#captured(directory, 'files', abort)
    this.#latest.set(directory, id)
    const same = since === undefined || since === id
    return { id, changes: same ? [] : await this.#captures.compare(since, id) }
  }

  async #captured(directory: string, of: CaptureOptions['of'], { signal }: AbortController): Promise<string> {
    if (this.#isStopped) return never()
    return (await this.#captures.take(directory, { of, signal, budget: this.#budget })).id
  }

  /** Lets `stop` abort a task and wait for it. */
  async #whileRunning<T>(abort: AbortController, task: Promise<T>): Promise<T> {
    this.#running.set(abort, task)
    return task.finally(() => this.#running.delete(abort))
  }

  /** Runs work that takes captures and records them. No content is deleted meanwhile. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    while (this.#blocking) await this.#blocking
    const mark = {}
    this.#open.add(mark)
    try {
      return await work()
    } finally {
      this.#open.delete(mark)
    }
  }

  /**
   * Deletes the contents that no capture in `kept` needs; nothing if `kept` resolves with undefined. Returns false,
   * and deletes nothing, if captures are being taken or recorded now.
   */
  async collect(kept: () => Promise<ReadonlySet<string> | undefined>): Promise<boolean> {
    while (this.#blocking) await this.#blocking
    if (this.#open.size > 0) return false
    this.#latest.clear()
    const collecting = kept().then((ids) => (ids ? this.#captures.collect(ids) : undefined))
    const done = () => void (this.#blocking = undefined)
    this.#blocking = collecting.then(done, done)
    await collecting
    return true
  }
}

/** A promise that never settles, for a task of a host that has stopped: the code that awaits it does not go on. */
function never(): Promise<never> {
  return new Promise(() => {})
}
