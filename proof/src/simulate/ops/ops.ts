import type { MinimalClient } from '../minimal-client.ts'
import { sharedOps, restart, viewOf } from './shared-ops.ts'
import type { OpFunction } from './shared-ops.ts'
import type { OpName } from '../plan.ts'
import type { Chance } from '../../chance.ts'
import type { Simulation } from '../simulation.ts'

type Sim = Simulation<MinimalClient>

/** The operations of a plan, for minimal clients. */
export const ops: { readonly [N in OpName]: OpFunction<Sim> } = {
  ...sharedOps,
  tick: (sim, chance) => {
    if (chance.oneIn(8)) sim.clock.wall -= 3_600_000 * chance.below(3)
    const steps =
      sim.plan.theme === 'idle' ? [1000, 30_000, 61_000, 61_000] : [0, 1, 20, 1000, 61_000, 61_000]
    sim.tasks.push(...sim.clock.due(chance.pick(steps) ?? 0))
  },
  open(sim, chance) {
    const client = chance.pick(sim.clients)
    if (client && (!client.link || chance.oneIn(3))) open(sim, client, chance)
  },
  cut(sim, chance) {
    const { link } = chance.pick(sim.clients) ?? {}
    if (!link) return
    link.endClient()
    if (chance.oneIn(2)) link.endHost()
    else sim.halfOpen.add(link)
  },
  subscribe(sim, chance) {
    const client = chance.pick(sim.clients)
    // The choice includes chats that are still being created: a subscription to a guessed URI must find nothing.
    const uri = chance.pick([...sim.liveUris(), ...sim.invariants.stagedChats()])
    if (!client?.open || client.fetchingTurns || uri === undefined) return
    client.subscribe(uri, chance.oneIn(4) ? 20 : undefined, viewOf(sim, uri, chance))
  },
  unsubscribe(sim, chance) {
    const client = chance.pick(sim.clients)
    const uri = client && chance.pick([...client.subscriptions.keys()])
    if (client?.idle && uri !== undefined) client.unsubscribe(uri)
  },
  fetch(sim, chance) {
    const client = chance.pick(sim.clients)
    const chats = [...(client?.subscriptions.keys() ?? [])].filter((uri) =>
      client?.clientView.windowed.has(uri),
    )
    const chat = chance.pick(chats)
    if (client?.idle && chat !== undefined) client.fetch(chat)
  },
}

export function open(sim: Simulation, client: MinimalClient, chance: Chance): void {
  if (!sim.up) {
    if (!sim.hostRun) restart(sim)
    return
  }
  const old = client.link
  if (old) {
    old.endClient()
    sim.halfOpen.add(old)
  }
  const back = client.canReconnect && !chance.oneIn(4)
  const { names } = client.clientView
  const chosen = back ? [...client.subscriptions.keys()] : sim.liveUris().filter(() => chance.oneIn(2))
  const wanted = [...new Set(chosen.map((uri) => names.followed(uri)))]
  if (back && chance.oneIn(4)) wanted.push('ahp-session:/nowhere')
  // The client was never subscribed to this channel, so the host must answer with snapshots instead of a replay.
  const more = chance.pick(
    sim.liveUris().filter((uri) => {
      const followed = names.followed(uri)
      return !wanted.includes(followed) && !client.everSubscribed.has(followed)
    }),
  )
  if (back && more !== undefined && chance.oneIn(3)) wanted.push(names.followed(more))
  const link = client.begin(sim.plan.weight, back ? 'reconnect' : 'initialize', wanted, chance.oneIn(3))
  sim.connect(link)
}
