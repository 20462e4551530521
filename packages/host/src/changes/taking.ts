import type { Core } from '../core/core.ts'
import { withTimeout } from '../core/timeout.ts'
import { CaptureFailed, CaptureRefused } from '../ports/captures.ts'
import type { CaptureBudget, CapturedChange, Captures } from '../ports/captures.ts'

/** A capture and its differences from an earlier one; or why there is none, as a sentence for users. */
export type Taken =
  | { readonly id: string; readonly changes: readonly CapturedChange[] }
  | { readonly problem: string; readonly isRefused: boolean }

/** Takes captures within the limits of the host. While a capture is not recorded yet, no contents are deleted. */
export class Taking {
  readonly #captures: Captures
  readonly #core: Pick<Core, 'world' | 'limits'>
  /** The deletion of contents that runs now. Captures wait for it. */
  #collecting: Promise<void> = Promise.resolve()
  /** The captures that are being taken, or were taken and are not recorded yet. */
  readonly #open = new Set<object>()

  constructor(captures: Captures, core: Pick<Core, 'world' | 'limits'>) {
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
    await this.#collecting
    const abort = new AbortController()
    const slow = () => {
      abort.abort()
      throw new CaptureFailed(`The files could not be recorded within ${limits.turnCaptureMs / 1000} s.`)
    }
    try {
      return await withTimeout(world, limits.turnCaptureMs, this.#take(directory, since, abort.signal), slow)
    } catch (error) {
      if (error instanceof CaptureFailed)
        return { problem: error.message, isRefused: error instanceof CaptureRefused }
      world.report('a capture failed', error)
      return { problem: 'The files could not be recorded.', isRefused: false }
    }
  }

  /** Captures a commit of a folder's repository. Rejects with a sentence for users. */
  async commit(directory: string, of: 'head' | 'branch'): Promise<string> {
    await this.#collecting
    const { signal } = new AbortController()
    return (await this.#captures.take(directory, { of, signal, budget: this.#budget })).id
  }

  get #budget(): CaptureBudget {
    const { captureBytes: bytes, captureFiles: files, captureFileBytes: fileBytes } = this.#core.limits
    return { bytes, files, fileBytes }
  }

  async #take(directory: string, since: string | undefined, signal: AbortSignal): Promise<Taken> {
    const { id } = await this.#captures.take(directory, {
      of: 'files',
      signal,
      budget: this.#budget,
    })
    const same = since === undefined || since === id
    return { id, changes: same ? [] : await this.#captures.compare(since, id) }
  }

  /** Lets captures wait for a task that changes files. */
  blockFor(task: Promise<void>): void {
    const failed = (error: unknown) => this.#core.world.report('finishing interrupted edits failed', error)
    this.#collecting = this.#collecting.then(() => task).catch(failed)
  }

  /** Runs work that takes captures and records them. No content is deleted meanwhile. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    await this.#collecting
    const mark = {}
    this.#open.add(mark)
    try {
      return await work()
    } finally {
      this.#open.delete(mark)
    }
  }

  /** Deletes the contents that no record needs, unless captures are being taken. Returns whether it did. */
  async collect(kept: () => Promise<ReadonlySet<string> | undefined>): Promise<boolean> {
    await this.#collecting
    if (this.#open.size > 0) return false
    const collecting = kept().then((ids) => (ids ? this.#captures.collect(ids) : undefined))
    this.#collecting = collecting.catch(() => {})
    await collecting
    return true
  }
}
