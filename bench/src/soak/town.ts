import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Place } from '../client.ts'
import type { Chance } from './chance.ts'
import { patiently } from './patience.ts'
import { Room } from './room.ts'

const crowded = 20
/** A room that has seen so much is closed: a life that is longer than a replay could not be audited. */
const longLife = 2000

/** Where everybody meets: the sessions there are, and everything that went wrong. */
export class Town {
  readonly place: Place
  readonly problems: string[] = []
  readonly done = { told: 0, sessions: 0, returns: 0, attacks: 0, slow: 0, comparisons: 0, audits: 0 }
  over = false
  readonly #rooms = new Map<Uri, Room>()
  #named = 0

  constructor(place: Place) {
    this.place = place
  }

  get rooms(): readonly Room[] {
    return [...this.#rooms.values()].filter(({ open }) => open)
  }

  get sessions(): number {
    return this.#rooms.size
  }

  room(uri: Uri): Room | undefined {
    return this.#rooms.get(uri)
  }

  /** Somebody was told something. */
  told(envelope: Envelope): void {
    this.done.told++
    this.problem(this.#rooms.get(envelope.channel)?.ledger.note(envelope))
  }

  problem(...problems: readonly (string | undefined)[]): void {
    for (const problem of problems) if (problem !== undefined) this.problems.push(problem)
  }

  async open(): Promise<Room> {
    const room = await Room.create(this.place, `ahp-session:/soak-${++this.#named}`)
    this.#rooms.set(room.uri, room)
    this.done.sessions++
    return room
  }

  async close(room: Room): Promise<void> {
    await patiently(`the last to leave ${room.uri}`, room.retire())
    this.problem(...(await patiently(`the end of ${room.uri}`, room.end(this.place))))
    this.#rooms.delete(room.uri)
    this.done.audits++
  }

  /** Sessions come, and the fullest or any other goes. */
  async live(chance: Chance): Promise<void> {
    while (!this.over) {
      while (this.rooms.length < crowded) await this.open()
      const full = this.rooms.find(({ ledger }) => ledger.size > longLife)
      const room = full ?? (chance.between(0, 10) === 0 ? chance.pick(this.rooms) : undefined)
      if (room) await this.close(room)
      await chance.pause(100, 400)
    }
  }

  async closeAll(): Promise<void> {
    for (const room of this.rooms) await this.close(room)
  }
}
