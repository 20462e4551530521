import type { Client } from './client.ts'
import { opsOfAll, restart, viewOf } from './ops-of-all.ts'
import type { Does } from './ops-of-all.ts'
import type { OpName } from './plan.ts'
import type { Chance } from '../chance.ts'
import type { Simulation } from './simulation.ts'

type Sim = Simulation<Client>

/** What each op does, where it makes sense. */
export const ops: { readonly [N in OpName]: Does<Sim> } = {
  ...opsOfAll,
  tick: (sim, chance) => {
    if (chance.oneIn(8)) sim.clock.wall -= 3_600_000 * chance.below(3)
    const steps =
      sim.plan.theme === 'nights' ? [1000, 30_000, 61_000, 61_000] : [0, 1, 20, 1000, 61_000, 61_000]
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
    else sim.late.add(link)
  },
  subscribe(sim, chance) {
    const client = chance.pick(sim.clients)
    // Who guesses the name of what is being made finds nothing.
    const uri = chance.pick([...sim.living(), ...sim.laws.unborn()])
    if (!client?.open || client.pages || uri === undefined) return
    client.subscribe(uri, chance.oneIn(4) ? 20 : undefined, viewOf(sim, uri, chance))
  },
  unsubscribe(sim, chance) {
    const client = chance.pick(sim.clients)
    const uri = client && chance.pick([...client.follows.keys()])
    if (client?.content && uri !== undefined) client.unsubscribe(uri)
  },
  fetch(sim, chance) {
    const client = chance.pick(sim.clients)
    const chats = [...(client?.follows.keys() ?? [])].filter((uri) => client?.eye.narrow.has(uri))
    const chat = chance.pick(chats)
    if (client?.content && chat !== undefined) client.fetch(chat)
  },
}

export function open(sim: Sim, client: Client, chance: Chance): void {
  if (!sim.up) {
    if (!sim.life) restart(sim)
    return
  }
  const old = client.link
  if (old) {
    old.endClient()
    sim.late.add(old)
  }
  const back = client.known && !chance.oneIn(4)
  const wanted = back ? [...client.follows.keys()] : sim.living().filter(() => chance.oneIn(2))
  if (back && chance.oneIn(4)) wanted.push('ahp-session:/nowhere')
  // It may ask for what it never had: then it needs snapshots.
  const more = chance.pick(sim.living().filter((uri) => !wanted.includes(uri) && !client.had.has(uri)))
  if (back && more !== undefined && chance.oneIn(3)) wanted.push(more)
  const link = client.begin(sim.plan.weight, back ? 'reconnect' : 'initialize', wanted, chance.oneIn(3))
  sim.connect(link)
}
