import type { Envelope, Uri } from '@atrium/protocol/channel'
import { Client } from '../client.ts'
import type { Place } from '../client.ts'
import { Ledger } from './ledger.ts'

/** A session, with somebody who saw its birth and will ask for all of its life at its end. */
export class Room {
  readonly uri: Uri
  readonly ledger = new Ledger()
  readonly #witness: Client
  #users = 0
  #retired = false
  #empty: (() => void) | undefined

  private constructor(uri: Uri) {
    this.uri = uri
    this.#witness = new Client(`witness of ${uri}`)
  }

  static async create(place: Place, uri: Uri): Promise<Room> {
    const room = new Room(uri)
    await room.#witness.initialize(place)
    await room.#witness.ask('createSession', { channel: uri })
    await room.#witness.subscribe(uri)
    await room.#witness.drop()
    return room
  }

  get open(): boolean {
    return !this.#retired
  }

  /** While somebody is in it, it is not taken away. */
  async use<T>(task: () => Promise<T>): Promise<T> {
    this.#users++
    try {
      return await task()
    } finally {
      this.#users--
      if (this.#users === 0) this.#empty?.()
    }
  }

  /** Nobody enters any more; resolves when the last has left. */
  async retire(): Promise<void> {
    this.#retired = true
    if (this.#users > 0) await new Promise<void>((resolve) => (this.#empty = resolve))
  }

  /** What is wrong with its log, seen from its birth; then it is disposed. */
  async end(place: Place): Promise<readonly string[]> {
    const log: Envelope[] = []
    const witness = this.#witness
    witness.told = (envelope) => log.push(envelope)
    const answer = await witness.reconnect(place)
    // The fold of the whole log is what the host shows.
    await witness.compare(this.uri)
    await witness.ask('disposeSession', { channel: this.uri })
    await witness.leave()
    const problems = answer === 'replay' ? this.ledger.audit(log) : [`${answer} instead of a replay`]
    return [...problems.map((problem) => `${this.uri}: ${problem}`), ...witness.problems]
  }
}
