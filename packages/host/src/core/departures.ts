import type { Uri } from '@atrium/protocol/channel'
import type { Records } from '../ports/records.ts'
import type { World } from '../ports/world.ts'

/** After so long somebody who has left is missed for something. */
export interface GracePeriod {
  readonly ms: number
  over(clientId: string): void
}

/** How long clients that have left are still expected, and where they are missed. */
export class Departures {
  readonly #records: Records
  readonly #world: World
  readonly #periods: readonly GracePeriod[]
  /** The sessions that hang on a client: it takes part in them, or has made them. */
  readonly #sessions = new Map<string, Set<Uri>>()
  readonly #awaited = new Map<string, readonly (() => void)[]>()

  private constructor(records: Records, world: World, stages: readonly GracePeriod[]) {
    this.#records = records
    this.#world = world
    this.#periods = stages
  }

  /** After a start everyone has left, and may come back. */
  static async open(records: Records, world: World, stages: readonly GracePeriod[]): Promise<Departures> {
    const grace = new Departures(records, world, stages)
    for (const [key] of await records.list(prefix)) {
      const [clientId, session] = JSON.parse(key.slice(prefix.length)) as [string, Uri]
      grace.#sessionSet(clientId).add(session)
      grace.departed(clientId)
    }
    return grace
  }

  join(clientId: string, session: Uri): void {
    if (this.#sessions.get(clientId)?.has(session)) return
    this.#sessionSet(clientId).add(session)
    this.#records.put(keyOf(clientId, session), '')
  }

  leave(clientId: string, session: Uri): void {
    const sessions = this.#sessions.get(clientId)
    if (!sessions?.delete(session)) return
    if (sessions.size === 0) this.#sessions.delete(clientId)
    this.#records.delete(keyOf(clientId, session))
  }

  sessionsOf(clientId: string): readonly Uri[] {
    return [...(this.#sessions.get(clientId) ?? [])]
  }

  departed(clientId: string): void {
    this.returned(clientId)
    if (!this.#sessions.has(clientId)) return
    const undoes = this.#periods.map(({ ms, over }) => this.#world.later(ms, () => over(clientId)))
    this.#awaited.set(clientId, undoes)
  }

  returned(clientId: string): void {
    for (const undo of this.#awaited.get(clientId) ?? []) undo()
    this.#awaited.delete(clientId)
  }

  #sessionSet(clientId: string): Set<Uri> {
    const sessions = this.#sessions.get(clientId) ?? new Set<Uri>()
    this.#sessions.set(clientId, sessions)
    return sessions
  }
}

const prefix = 'guest/'

function keyOf(clientId: string, session: Uri): string {
  return `${prefix}${JSON.stringify([clientId, session])}`
}
