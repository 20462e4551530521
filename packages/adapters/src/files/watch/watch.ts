import { lstat } from 'node:fs/promises'
import type { FileWatch, WatchListener, WatchRequest } from '@atrium/host/ports/files'
import { limits } from '@atrium/protocol/limits'
import { ChangeWindow } from './change-window.ts'
import { WatchedFile } from './file.ts'
import { backendFor } from './notify-backend.ts'
import { defaultTiming } from './options.ts'
import type { WatchOptions, WatchTarget } from './options.ts'
import { WatchedTree } from './tree.ts'

/** Watches a real path. The caller has checked that the path may be seen. */
export async function watchTree(
  path: string,
  request: WatchRequest,
  listener: WatchListener,
  options: Partial<WatchOptions> = {},
): Promise<FileWatch> {
  const backend = options.backend ?? (await backendFor(path))
  const watch = new Watch(path, request, listener, { limits, timing: defaultTiming, ...options, backend })
  await watch.begin()
  return watch
}

/**
 * Watches one path by repeated passes until `end`. A pass waits for events during one window, collects the changes,
 * and reports them.
 */
class Watch implements FileWatch {
  readonly #path: string
  readonly #request: WatchRequest
  readonly #listener: WatchListener
  readonly #options: WatchOptions
  #target: WatchTarget | undefined
  #timer: NodeJS.Timeout | undefined
  #eventPending = false
  #pass: Promise<void> | undefined
  /** Duration of the last pass, in milliseconds. */
  #passMs = 0
  #ended = false

  constructor(path: string, request: WatchRequest, listener: WatchListener, options: WatchOptions) {
    this.#path = path
    this.#request = request
    this.#listener = listener
    this.#options = options
  }

  async begin(): Promise<void> {
    await this.#runPass(async () => {
      this.#target = await this.#open()
    })
  }

  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    await this.#pass
    this.#target?.close()
    this.#target = undefined
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#ended) return
    const { windowMs, pollMs, absentMs } = this.#options.timing
    // The wait is at least as long as the last pass, so that a busy tree takes at most half of the process's time.
    const window = Math.min(Math.max(windowMs, this.#passMs), pollMs)
    const ms = this.#eventPending ? window : this.#target ? pollMs : absentMs
    this.#timer = setTimeout(() => void this.#runPass(() => this.#report()), ms).unref()
  }

  /** Runs one pass. Events that arrive during the pass are left to the next one. */
  #runPass(act: () => Promise<void>): Promise<void> {
    this.#pass = act().finally(() => {
      this.#pass = undefined
      this.#schedule()
    })
    return this.#pass
  }

  async #report(): Promise<void> {
    const began = performance.now()
    this.#eventPending = false
    const changes = new ChangeWindow(this.#request.wants, this.#options.limits.watchChanges)
    const found = await this.#collect(changes)
    if (found && !this.#ended) changes.deliverTo(this.#listener)
    this.#passMs = performance.now() - began
  }

  /** Collects the changes since the last pass. Returns false while the path does not exist. */
  async #collect(changes: ChangeWindow): Promise<boolean> {
    if (!this.#target) {
      this.#target = await this.#open(changes)
      return this.#target !== undefined
    }
    if (await this.#target.collect(changes)) return true
    // A replacement is reported by the next pass, so that clients see the deletion first.
    this.#target.close()
    this.#target = undefined
    changes.targetDeleted()
    return true
  }

  /** Starts watching the file or directory at the path now; with `changes`, reports it as added. */
  async #open(changes?: ChangeWindow): Promise<WatchTarget | undefined> {
    const stat = await lstat(this.#path).catch(() => undefined)
    if (!stat) return undefined
    changes?.add('', 'added')
    const onEvent = (): void => {
      if (this.#eventPending) return
      this.#eventPending = true
      if (!this.#pass) this.#schedule()
    }
    if (!stat.isDirectory()) return WatchedFile.open(this.#path, this.#options.backend, onEvent)
    const { backend, limits, timing } = this.#options
    const context = { path: this.#path, request: this.#request, backend, limits, timing, onEvent }
    return WatchedTree.open(context, changes)
  }
}
