import type { Uri } from '@atrium/protocol/channel'
import type { Records } from './ports/records.ts'

/** Something that an agent does now: a turn of a chat, or the making of a session. */
export interface Job {
  /** Nothing of it is heard any more. */
  stop(): void
}

/**
 * What agents are doing, and which channels have work that is not done. The second can be read off their states; it is
 * also kept beside them, so that a start loads exactly these.
 */
export class Work {
  readonly #records: Records
  readonly #open = new Set<Uri>()
  readonly #jobs = new Map<Uri, Job>()

  private constructor(records: Records) {
    this.#records = records
  }

  static async open(records: Records): Promise<Work> {
    const work = new Work(records)
    for (const [key] of await records.list(prefix)) work.#open.add(key.slice(prefix.length))
    return work
  }

  /** The channels that have work to be done. */
  get pending(): readonly Uri[] {
    return [...this.#open]
  }

  isPending(uri: Uri): boolean {
    return this.#open.has(uri)
  }

  /** Whether a channel's state has work to be done, as it is after the present step. */
  mark(uri: Uri, pending: boolean): void {
    if (pending === this.#open.has(uri)) return
    if (pending) {
      this.#open.add(uri)
      this.#records.put(`${prefix}${uri}`, '')
    } else {
      this.#open.delete(uri)
      this.#records.delete(`${prefix}${uri}`)
    }
  }

  has(uri: Uri): boolean {
    return this.#jobs.has(uri)
  }

  begin(uri: Uri, job: Job): void {
    this.#jobs.set(uri, job)
  }

  /** A job has come to its end by itself. */
  end(uri: Uri, job: Job): void {
    if (this.#jobs.get(uri) === job) this.#jobs.delete(uri)
  }

  /** Whatever is being done there is not wanted any more. */
  stop(uri: Uri): void {
    const job = this.#jobs.get(uri)
    this.#jobs.delete(uri)
    job?.stop()
  }

  stopAll(): void {
    for (const uri of this.#jobs.keys()) this.stop(uri)
  }
}

const prefix = 'open/'
