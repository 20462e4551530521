import type { Uri } from '@atrium/protocol/channel'
import type { Records } from '../ports/records.ts'
import type { World } from '../ports/world.ts'

/** After so long somebody who has left is missed for something. */
export interface Stage {
  readonly ms: number
  over(clientId: string): void
}

/** How long clients that have left are still expected, and where they are missed. */
export class Grace {
  readonly #records: Records
  readonly #world: World
  readonly #stages: readonly Stage[]
  /** The sessions that hang on a client: it takes part in them, or has made them. */
  readonly #guests = new Map<string, Set<Uri>>()
  readonly #expected = new Map<string, readonly (() => void)[]>()

  private constructor(records: Records, world: World, stages: readonly Stage[]) {
    this.#records = records
    this.#world = world
    this.#stages = stages
  }

  /** After a start everyone has left, and may come back. */
  static async open(records: Records, world: World, stages: readonly Stage[]): Promise<Grace> {
    const grace = new Grace(records, world, stages)
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
    const undoes = this.#stages.map(({ ms, over }) => this.#world.later(ms, () => over(clientId)))
    this.#expected.set(clientId, undoes)
  }

  back(clientId: string): void {
    for (const undo of this.#expected.get(clientId) ?? []) undo()
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
