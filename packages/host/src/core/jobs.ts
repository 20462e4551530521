import type { Uri } from '@atrium/protocol/channel'
import type { Records } from '../ports/records.ts'

/** Something that is being done now: a turn of a chat, the making of a session, a shell, a watch. */
export interface Job {
  /** Nothing of it is heard any more. Resolves when it has left nothing behind. */
  stop(): void | Promise<void>
  /** Nobody follows its channel any more. */
  unsubscribed?(): void
  /** A client has given its channel a name. */
  named?(): void
}

/**
 * What agents are doing, and which channels have work that is not done. The second can be read off their states; it is
 * also kept beside them, so that a start loads exactly these.
 */
export class Jobs {
  readonly #records: Records
  readonly #open = new Set<Uri>()
  readonly #jobs = new Map<Uri, Job>()
  /** The host is going away: nothing begins any more. What is told from now on, the next life finds. */
  stopping = false

  private constructor(records: Records) {
    this.#records = records
  }

  static async open(records: Records): Promise<Jobs> {
    const work = new Jobs(records)
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

  job(uri: Uri): Job | undefined {
    return this.#jobs.get(uri)
  }

  /** How many of a kind there are. */
  count(kind: abstract new (...given: never[]) => Job): number {
    return [...this.#jobs.values()].filter((job) => job instanceof kind).length
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
    void job?.stop()
  }

  /** Resolves when nothing is being done any more. */
  async stopAll(): Promise<void> {
    this.stopping = true
    const jobs = [...this.#jobs.values()]
    this.#jobs.clear()
    await Promise.all(jobs.map(async (job) => job.stop()))
  }
}

const prefix = 'open/'
