import type { Envelope, Uri } from '@atrium/protocol/channel'
import { Client } from '../client.ts'
import type { Endpoint } from '../client.ts'
import { DeliveryRecord } from './delivery-record.ts'

/**
 * A session whose whole log is read and checked before the session is disposed of. A client, the auditor, subscribes
 * when the session is created, and disconnects. When it reconnects at the end, the host replays the whole log to it.
 */
export class AuditedSession {
  readonly uri: Uri
  readonly record = new DeliveryRecord()
  readonly #auditor: Client
  #users = 0
  #retired = false
  #onUnused: (() => void) | undefined

  private constructor(uri: Uri) {
    this.uri = uri
    this.#auditor = new Client(`auditor of ${uri}`)
  }

  static async create(endpoint: Endpoint, uri: Uri): Promise<AuditedSession> {
    const session = new AuditedSession(uri)
    await session.#auditor.initialize(endpoint)
    await session.#auditor.ask('createSession', { channel: uri })
    await session.#auditor.subscribe(uri)
    await session.#auditor.drop()
    return session
  }

  get open(): boolean {
    return !this.#retired
  }

  /** Runs a task. The session is not disposed of before the task ends. */
  async use<T>(task: () => Promise<T>): Promise<T> {
    this.#users++
    try {
      return await task()
    } finally {
      this.#users--
      if (this.#users === 0) this.#onUnused?.()
    }
  }

  /** Marks the session as closed to new users. Resolves when the last task has ended. */
  async retire(): Promise<void> {
    this.#retired = true
    if (this.#users > 0) await new Promise<void>((resolve) => (this.#onUnused = resolve))
  }

  /** Reads the log since the creation of the session, and disposes of the session. Returns the problems found. */
  async auditAndDispose(endpoint: Endpoint): Promise<readonly string[]> {
    const log: Envelope[] = []
    const auditor = this.#auditor
    auditor.onEnvelope = (envelope) => log.push(envelope)
    const answer = await auditor.reconnect(endpoint)
    // The state that the auditor has reduced from the whole log must equal a new snapshot.
    await auditor.compare(this.uri)
    await auditor.ask('disposeSession', { channel: this.uri })
    await auditor.leave()
    const problems = answer === 'replay' ? this.record.audit(log) : [`${answer} instead of a replay`]
    return [...problems.map((problem) => `${this.uri}: ${problem}`), ...auditor.problems]
  }
}
