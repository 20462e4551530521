import { lstat } from 'node:fs/promises'
import type { WatchListener, WatchRequest, FileWatch } from '@atrium/host/ports/files'
import { limits } from '@atrium/protocol/limits'
import { Changes } from './change-window.ts'
import { WatchedFile } from './file.ts'
import { meansFor } from './notify-backend.ts'
import { usualPace } from './options.ts'
import type { Terms, Watched } from './options.ts'
import { Tree } from './tree.ts'

/** Watches a real path, as it is: whether anybody may see it was decided before. */
export async function watchTree(
  path: string,
  wish: WatchRequest,
  tell: WatchListener,
  terms: Partial<Terms> = {},
): Promise<FileWatch> {
  const means = terms.means ?? (await meansFor(path))
  const watch = new Watch(path, wish, tell, { limits, pace: usualPace, ...terms, means })
  await watch.begin()
  return watch
}

/** Listens for a window, then looks and tells: one after the other, until it ends. */
class Watch implements FileWatch {
  readonly #path: string
  readonly #wish: WatchRequest
  readonly #tell: WatchListener
  readonly #terms: Terms
  #watched: Watched | undefined
  #timer: NodeJS.Timeout | undefined
  #heard = false
  #pass: Promise<void> | undefined
  #took = 0
  #ended = false

  constructor(path: string, wish: WatchRequest, tell: WatchListener, terms: Terms) {
    this.#path = path
    this.#wish = wish
    this.#tell = tell
    this.#terms = terms
  }

  async begin(): Promise<void> {
    await this.#alone(async () => {
      this.#watched = await this.#open()
    })
  }

  async end(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    await this.#pass
    this.#watched?.end()
    this.#watched = undefined
  }

  #rest(): void {
    clearTimeout(this.#timer)
    if (this.#ended) return
    const { windowMs, beatMs, absentMs } = this.#terms.pace
    // After a pass that took long it listens as long: half of the time is left to others, whatever goes on in there.
    const window = Math.min(Math.max(windowMs, this.#took), beatMs)
    const ms = this.#heard ? window : this.#watched ? beatMs : absentMs
    this.#timer = setTimeout(() => void this.#alone(() => this.#look()), ms).unref()
  }

  /** What is heard meanwhile is looked at afterwards. */
  #alone(act: () => Promise<void>): Promise<void> {
    this.#pass = act().finally(() => {
      this.#pass = undefined
      this.#rest()
    })
    return this.#pass
  }

  async #look(): Promise<void> {
    const began = performance.now()
    this.#heard = false
    const changes = new Changes(this.#wish.wants, this.#terms.limits.watchChanges)
    if (await this.#found(changes)) if (!this.#ended) changes.tell(this.#tell)
    this.#took = performance.now() - began
  }

  /** Whether there is something to tell of. */
  async #found(changes: Changes): Promise<boolean> {
    if (!this.#watched) {
      this.#watched = await this.#open(changes)
      return this.#watched !== undefined
    }
    if (await this.#watched.settle(changes)) return true
    // What took its place is told of in the next pass: in between everybody knows that nothing is left of it.
    this.#watched.end()
    this.#watched = undefined
    changes.goneAltogether()
    return true
  }

  /** Whatever is there now, as something new where there are changes to be told. */
  async #open(changes?: Changes): Promise<Watched | undefined> {
    const facts = await lstat(this.#path).catch(() => undefined)
    if (!facts) return undefined
    changes?.add('', 'added')
    const hear = (): void => {
      if (this.#heard) return
      this.#heard = true
      if (!this.#pass) this.#rest()
    }
    if (!facts.isDirectory()) return WatchedFile.open(this.#path, this.#terms.means, hear)
    return Tree.open(this.#path, this.#wish, this.#terms, hear, changes)
  }
}
