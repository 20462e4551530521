import type { Uri } from '@atrium/protocol/channel'
import { defineKey } from '../kernel/key.ts'
import { RecordMap, textFormat } from '../kernel/record-map.ts'
import type { Records } from '../ports/records.ts'
import { readText } from '../kernel/records/checked-records.ts'
import type { World } from '../ports/world.ts'

/** The time within which a departed client must come back, and the consequence if it does not. */
export interface GracePeriod {
  readonly ms: number
  over(clientId: string): unknown
  /** Called when a departed client has come back, also after its time was over. */
  back?(clientId: string): void
}

/**
 * The clients that have left and may come back in time. Also holds the sessions that each client takes part in or has created.
 */
export class Departures {
  readonly #world: World
  readonly #periods: readonly GracePeriod[]
  /** The stored pairs of client and session. Only the keys matter. */
  readonly #pairs: RecordMap<string>
  /** The pairs of `#pairs` by client: the sessions that the client takes part in or has created. */
  readonly #sessions = new Map<string, Set<Uri>>()
  /** The sessions that each departed client has left since its departure. The client may still come back to them. */
  readonly #left = new Map<string, Set<Uri>>()
  /** For each departed client: the functions that cancel its timers. */
  readonly #awaited = new Map<string, readonly (() => void)[]>()

  private constructor(pairs: RecordMap<string>, world: World, periods: readonly GracePeriod[]) {
    this.#pairs = pairs
    this.#world = world
    this.#periods = periods
  }

  /** Loads the pairs. After a start every client counts as departed and may come back. */
  static async open(records: Records, world: World, periods: readonly GracePeriod[]): Promise<Departures> {
    const pairs = await RecordMap.open(records, 'guest/', textFormat)
    const departures = new Departures(pairs, world, periods)
    for (const key of pairs.keys()) {
      const pair = readText(records, `guest/${key}`, { text: key, read: pairIn })
      if (!pair) continue
      const [clientId, session] = pair
      setIn(departures.#sessions, clientId).add(session)
      departures.departed(clientId)
    }
    return departures
  }

  join(clientId: string, session: Uri): void {
    if (this.#sessions.get(clientId)?.has(session)) return
    setIn(this.#sessions, clientId).add(session)
    this.#pairs.set(pairOf(clientId, session), '')
  }

  leave(clientId: string, session: Uri): void {
    const sessions = this.#sessions.get(clientId)
    if (!sessions?.delete(session)) return
    if (sessions.size === 0) this.#sessions.delete(clientId)
    this.#pairs.delete(pairOf(clientId, session))
    if (this.#awaited.has(clientId)) setIn(this.#left, clientId).add(session)
  }

  sessionsOf(clientId: string): readonly Uri[] {
    return [...(this.#sessions.get(clientId) ?? [])]
  }

  /** Whether a departed client that was active in this session may still come back. */
  isAwaited(session: Uri): boolean {
    return [...this.#left.values()].some((sessions) => sessions.has(session))
  }

  /** Gives up a departed client. Returns the sessions that it takes part in, and those that it has left since. */
  giveUp(clientId: string): readonly Uri[] {
    const left = this.#left.get(clientId) ?? []
    this.#cancel(clientId)
    return [...this.sessionsOf(clientId), ...left]
  }

  departed(clientId: string): void {
    this.#cancel(clientId)
    if (!this.#sessions.has(clientId)) return
    const cancels = this.#periods.map(({ ms, over }) => this.#world.later(ms, () => over(clientId)))
    this.#awaited.set(clientId, cancels)
  }

  returned(clientId: string): void {
    if (!this.#awaited.has(clientId)) return
    this.#cancel(clientId)
    for (const { back } of this.#periods) back?.(clientId)
  }

  #cancel(clientId: string): void {
    for (const cancel of this.#awaited.get(clientId) ?? []) cancel()
    this.#awaited.delete(clientId)
    this.#left.delete(clientId)
  }
}

function setIn(sets: Map<string, Set<Uri>>, clientId: string): Set<Uri> {
  const set = sets.get(clientId) ?? new Set<Uri>()
  sets.set(clientId, set)
  return set
}

/** The shape is trusted: `pairOf` has written the keys. */
function pairIn(key: string): readonly [clientId: string, session: Uri] {
  return JSON.parse(key)
}

function pairOf(clientId: string, session: Uri): string {
  return JSON.stringify([clientId, session])
}

export const departuresOf = defineKey<Departures>('departures')
