import type { Action, Uri } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { isBefore } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../chance.ts'
import { comparable } from '../simulate/checks/comparable.ts'
import { difference } from '../simulate/checks/difference.ts'
import { changeable } from '../judge/rules.ts'
import { LinkLost } from './errors.ts'
import type { Address } from './host.ts'
import type { Sessions } from './load.ts'
import { OlderClient } from './older-client.ts'

const versions: readonly Version[] = ['0.1.0', '0.4.0', '0.6.0', '0.9.0']

/** A client with twice this many unanswered actions waits for their outcomes before it acts again. */
const maxPending = 4
/**
 * The maximum number of times in a row that a client reconnects. Links end often, because the host ends the link of a
 * client whose version has no action for a change.
 */
const maxReturns = 20

/**
 * Clients of older protocol versions, one of each, beside those that speak 1.0. The judge does not read their histories: at
 * the end each is compared with a new client of its version.
 */
export class OlderCrowd {
  readonly clients: readonly OlderClient[]
  readonly #folder: string
  readonly #sessions: Sessions

  /** `suffix` makes the ids of the clients unique, if a host meets several crowds. */
  constructor(folder: string, sessions: Sessions, suffix = '') {
    this.#folder = folder
    this.#sessions = sessions
    this.clients = versions.map((version) => new OlderClient(folder, `older-${version}${suffix}`, version))
  }

  /** Connects a client, and waits until everything that it ever sent has an outcome. */
  async back(client: OlderClient, address: () => Address): Promise<void> {
    for (let time = 1; ; time++)
      try {
        if (!client.open) await client.connect(address())
        return await client.settle()
      } catch (error) {
        if (!(error instanceof LinkLost) || time > maxReturns) throw error
      }
  }

  /** Lets a client follow sessions and act in them, until its link ends or it has done this many steps. */
  async work(client: OlderClient, chance: Chance, steps = Infinity): Promise<void> {
    try {
      for (let step = 0; step < steps; step++) {
        const session = chance.pick(this.#sessions.live)
        if (session === undefined) await client.ask('listSessions')
        else await this.#act(client, session, chance)
        if (client.pending >= 2 * maxPending) await client.settle()
        await client.until(() => client.pending < 2 * maxPending)
      }
    } catch (error) {
      if (!(error instanceof LinkLost)) throw error
    }
  }

  /** Waits until each client has the states that a new client of its version gets. Returns what differs if that takes too long. */
  async difference(address: Address, timeoutMs: number): Promise<string | undefined> {
    const until = Date.now() + timeoutMs
    for (const client of this.clients)
      for (;;) {
        const problem = await this.#problem(client, address).catch(lostLink)
        if (problem === undefined) break
        if (Date.now() > until) return `${client.id} differs from a new subscriber: ${problem}`
        await sleep(100)
      }
    return undefined
  }

  async #problem(client: OlderClient, address: Address): Promise<string | undefined> {
    await this.back(client, () => address)
    for (const uri of this.#sessions.live) await this.#follow(client, uri)
    const fresh = new OlderClient(this.#folder, `older-fresh-${client.version}`, client.version)
    try {
      await fresh.connect(address)
      for (const name of client.states.keys()) await fresh.subscribe(name)
      // When this answer arrives, the client has also received every envelope that the host sent before.
      await client.ask('listSessions')
      for (const [name, expected] of fresh.states) {
        const kind = client.kindOf(name)
        const shown = (state: unknown) =>
          changeable(kinds[kind] as never, comparable(client.version, kind, state ?? {}))
        const where = difference(shown(client.states.get(name)), shown(expected))
        if (where !== undefined) return `${name}: ${where}`
      }
      return undefined
    } finally {
      fresh.cut()
      fresh.flush()
    }
  }

  async #follow(client: OlderClient, session: Uri): Promise<void> {
    for (const name of new Set([client.nameOf(session), client.turnsOf(session)]))
      if (!client.states.has(name)) await client.subscribe(name)
  }

  async #act(client: OlderClient, session: Uri, chance: Chance): Promise<void> {
    const dice = chance.between(0, 9)
    if (dice < 2) return this.#follow(client, session)
    const name = client.nameOf(session)
    if (dice < 5) return client.dispatch(name, titled(`${client.id} ${chance.between(0, 999)}`))
    if (dice < 6 && isBefore(client.version, '0.5.0'))
      return client.dispatch(name, {
        type: 'session/modelChanged',
        model: { id: `m${chance.between(0, 2)}` },
      } as Action)
    client.dispatch(client.turnsOf(session), turnAction(client, chance))
  }
}

/**
 * A link that ends during a comparison is no difference: the host may end it at any change that the version cannot
 * express.
 */
function lostLink(error: unknown): string {
  if (error instanceof LinkLost) return error.message
  throw error
}

function titled(title: string): Action {
  return { type: 'session/titleChanged', title } as Action
}

/** Returns an action that starts a turn, or cancels one that does not exist. The host refuses such a cancellation. */
function turnAction({ id, version, merged }: OlderClient, chance: Chance): Action {
  const kind = merged ? 'session' : 'chat'
  const turnId = `${id}-${chance.next()}`
  const times = (members: object) => (isBefore(version, '0.6.0') ? {} : members)
  const cancelled = { type: `${kind}/turnCancelled`, turnId, ...times({ duration: 1 }) }
  if (chance.between(0, 3) === 0) return cancelled
  const text = chance.pick(['say hello', 'long 50', 'think twice', 'fail']) ?? ''
  const message = isBefore(version, '0.3.0')
    ? { userMessage: { text } }
    : { message: { text, origin: { kind: 'user' } } }
  const startedAt = new Date().toISOString()
  const started = { type: `${kind}/turnStarted`, turnId, ...message, ...times({ startedAt }) }
  return started
}
