import type { Uri } from '@atrium/protocol/channel'
import { RecordMap, textFormat } from './record-map.ts'
import type { Records } from '../ports/records.ts'

/** Work in progress on a channel: a turn of a chat, the creation of a session, a shell, a file watch. */
export interface Job {
  /** Stops the job, which reports nothing from now on. Resolves when the job has cleaned up. */
  stop(): void | Promise<void>
  /** Called when the channel has lost its last subscriber. */
  unsubscribed?(): void
  /** Called when a client has given the channel a title. */
  named?(): void
}

/**
 * The running jobs, and the channels with unfinished work. The states of the channels tell which work is unfinished.
 * The list of these channels is also stored, so that a start of the host need not load every channel.
 */
export class Jobs {
  /** The channels with unfinished work. Only the keys matter. */
  readonly #unfinished: RecordMap<string>
  readonly #jobs = new Map<Uri, Job>()
  /**
   * Set while the host shuts down: no job begins any more. Work that is committed from now on is found by the next
   * run of the host.
   */
  stopping = false

  private constructor(unfinished: RecordMap<string>) {
    this.#unfinished = unfinished
  }

  static async open(records: Records): Promise<Jobs> {
    return new Jobs(await RecordMap.open(records, 'open/', textFormat))
  }

  /** The channels with unfinished work. */
  get pending(): readonly Uri[] {
    return this.#unfinished.keys()
  }

  isPending(uri: Uri): boolean {
    return this.#unfinished.has(uri)
  }

  /** Records whether the channel's state after the present transaction has unfinished work. */
  mark(uri: Uri, pending: boolean): void {
    if (pending === this.#unfinished.has(uri)) return
    if (pending) this.#unfinished.set(uri, '')
    else this.#unfinished.delete(uri)
  }

  has(uri: Uri): boolean {
    return this.#jobs.has(uri)
  }

  job(uri: Uri): Job | undefined {
    return this.#jobs.get(uri)
  }

  /** Returns the number of running jobs of a class. */
  count(kind: abstract new (...given: never[]) => Job): number {
    return [...this.#jobs.values()].filter((job) => job instanceof kind).length
  }

  begin(uri: Uri, job: Job): void {
    this.#jobs.set(uri, job)
  }

  /** Removes a job that has ended by itself. */
  end(uri: Uri, job: Job): void {
    if (this.#jobs.get(uri) === job) this.#jobs.delete(uri)
  }

  /** Stops the job of a channel, if there is one. Does not wait until the job has cleaned up. */
  stop(uri: Uri): void {
    const job = this.#jobs.get(uri)
    this.#jobs.delete(uri)
    void job?.stop()
  }

  /** Stops all jobs. Resolves when all have cleaned up. */
  async stopAll(): Promise<void> {
    this.stopping = true
    const jobs = [...this.#jobs.values()]
    this.#jobs.clear()
    await Promise.all(jobs.map(async (job) => job.stop()))
  }
}
