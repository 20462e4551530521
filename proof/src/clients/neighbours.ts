import { rootUri } from '@atrium/protocol/uri'
import { Chance } from '../chance.ts'
import { checkClient } from '../simulate/final-checks.ts'
import { MinimalClient } from '../simulate/minimal-client.ts'
import { open } from '../simulate/ops/ops.ts'
import { chooseModel } from '../simulate/ops/shared-ops.ts'
import { randomAction } from '../simulate/random-action.ts'
import type { Simulation } from '../simulate/simulation.ts'

/**
 * Simulated clients of older protocol versions, beside the apps with the real client library, which speaks the newest
 * versions only.
 */
export class Neighbours {
  readonly clients: readonly MinimalClient[]
  readonly #sim: Simulation
  readonly #chance: Chance
  #owed = Infinity

  constructor(sim: Simulation) {
    this.#sim = sim
    this.#chance = new Chance(sim.plan.seed + 0x01d)
    this.clients = sim.plan.older.map((version, at) => new MinimalClient(sim, `o${at}`, version))
  }

  /** Makes one of these clients do something: mostly read and write, sometimes come and go. */
  act(): void {
    const [sim, chance] = [this.#sim, this.#chance]
    const client = chance.pick(this.clients)
    if (!client || !sim.up) return
    if (!client.link) return open(sim, client, chance)
    const deed = chance.below(16)
    if (deed === 0) client.link.endHost()
    if (deed === 0) return client.cut()
    if (deed < 5) return this.#dispatch(client)
    if (deed === 5 && client.open) return client.subscribe(chance.pick(sim.liveUris()) ?? rootUri)
    if (deed === 6 && client.idle && client.subscriptions.size > 2) return this.#unsubscribe(client)
    client.link.toHost(1 + chance.below(20))
    client.link?.toClient(1 + chance.below(20))
  }

  /** Lets everything under way arrive. */
  exchange(): void {
    for (const client of this.clients) {
      if (!client.link) open(this.#sim, client, this.#chance)
      client.link?.toHost(100)
      client.link?.toClient(100)
    }
  }

  /**
   * Returns what is still under way, in words; empty at rest. While frames wait in the host, the number of actions
   * without an outcome falls from round to round, so a falling number counts as work under way.
   */
  pendingWork(): string {
    const owed = this.clients.reduce((sum, client) => sum + client.owed, 0)
    const waits = owed < this.#owed
    this.#owed = owed
    const busy = this.clients.find(({ idle, link }) => !idle || (link?.waiting ?? 0) > 0)
    if (busy) return `${busy.id} waits`
    return waits && this.clients.length > 0 ? 'older clients wait for answers' : ''
  }

  checkAtRest(): void {
    for (const client of this.clients) checkClient(this.#sim, client)
  }

  leave(): void {
    for (const { link } of this.clients) {
      link?.endClient()
      link?.endHost()
    }
  }

  #dispatch(client: MinimalClient): void {
    const [sim, chance] = [this.#sim, this.#chance]
    const channel = chance.pick(sim.liveUris(chance.oneIn(3) ? '' : 'ahp-chat:')) ?? rootUri
    client.dispatch(channel, randomAction(sim, channel, client.id, chance))
    if (client.choosesModels) chooseModel(sim, client, chance)
  }

  #unsubscribe(client: MinimalClient): void {
    const uri = this.#chance.pick([...client.subscriptions.keys()])
    if (uri !== undefined) client.unsubscribe(uri)
  }
}
