import type { Uri } from '@atrium/protocol/channel'
import type { Records } from './ports/records.ts'
import type { World } from './ports/world.ts'

/** How long clients that have left are still expected, and where they are missed. */
export class Grace {
  readonly #records: Records
  readonly #world: World
  readonly #ms: number
  readonly #over: (clientId: string) => void
  /** The sessions that hang on a client: it takes part in them, or has made them. */
  readonly #guests = new Map<string, Set<Uri>>()
  readonly #expected = new Map<string, () => void>()

  private constructor(records: Records, world: World, ms: number, over: (clientId: string) => void) {
    this.#records = records
    this.#world = world
    this.#ms = ms
    this.#over = over
  }

  /** After a start everyone has left, and may come back. */
  static async open(
    records: Records,
    world: World,
    ms: number,
    over: (clientId: string) => void,
  ): Promise<Grace> {
    const grace = new Grace(records, world, ms, over)
    for (const [key] of await records.list(prefix)) {
      const [clientId, session] = JSON.parse(key.slice(prefix.length)) as [string, Uri]
      grace.#set(clientId).add(session)
      grace.left(clientId)
    }
    return grace
  }

  join(clientId: string, session: Uri): void {
    if (this.#guests.get(clientId)?.has(session)) return
    this.#set(clientId).add(session)
    this.#records.put(keyOf(clientId, session), '')
  }

  part(clientId: string, session: Uri): void {
    const sessions = this.#guests.get(clientId)
    if (!sessions?.delete(session)) return
    if (sessions.size === 0) this.#guests.delete(clientId)
    this.#records.delete(keyOf(clientId, session))
  }

  sessionsOf(clientId: string): readonly Uri[] {
    return [...(this.#guests.get(clientId) ?? [])]
  }

  left(clientId: string): void {
    this.back(clientId)
    if (!this.#guests.has(clientId)) return
    const undo = this.#world.later(this.#ms, () => {
      this.#expected.delete(clientId)
      this.#over(clientId)
    })
    this.#expected.set(clientId, undo)
  }

  back(clientId: string): void {
    this.#expected.get(clientId)?.()
    this.#expected.delete(clientId)
  }

  #set(clientId: string): Set<Uri> {
    const sessions = this.#guests.get(clientId) ?? new Set<Uri>()
    this.#guests.set(clientId, sessions)
    return sessions
  }
}

const prefix = 'guest/'

function keyOf(clientId: string, session: Uri): string {
  return `${prefix}${JSON.stringify([clientId, session])}`
}
