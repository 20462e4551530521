import type { Action, Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { Client } from './client.ts'
import type { OpName } from './plan.ts'
import type { Chance } from '../chance.ts'
import type { Simulation } from './simulation.ts'

/** What each op does, where it makes sense. */
export const ops: { readonly [N in OpName]: (sim: Simulation, chance: Chance) => void } = {
  deliver(sim, chance) {
    const link = chance.pick(sim.clients.flatMap((client) => client.link ?? []))
    const count = chance.oneIn(3) ? 100 : 1 + chance.below(4)
    if (chance.oneIn(2)) link?.toHost(count)
    else link?.toClient(count)
  },
  disk(sim, chance) {
    if (chance.oneIn(2)) return sim.disk.flush()
    for (let n = chance.below(3); n >= 0; n--) sim.disk.answer(chance.next())
  },
  tick: (sim, chance) => {
    if (chance.oneIn(8)) sim.clock.wall -= 3_600_000 * chance.below(3)
    sim.tasks.push(...sim.clock.due(chance.pick([0, 1, 20, 1000, 61_000, 61_000]) ?? 0))
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
  late(sim, chance) {
    const link = chance.pick([...sim.late])
    if (!link) return
    if (!chance.oneIn(3)) return link.toHost(1 + chance.below(5))
    link.endHost()
    sim.late.delete(link)
  },
  dispatch(sim, chance) {
    const client = chance.pick(sim.clients)
    const channel = chance.pick(sim.living()) ?? rootUri
    for (let n = chance.below(3); n >= 0; n--)
      client?.dispatch(channel, actionFor(sim, channel, client, chance))
  },
  subscribe(sim, chance) {
    const client = chance.pick(sim.clients)
    const uri = chance.pick(sim.living())
    if (client?.open && uri !== undefined) client.subscribe(uri, chance.oneIn(4) ? 20 : undefined)
  },
  unsubscribe(sim, chance) {
    const client = chance.pick(sim.clients)
    const uri = client && chance.pick([...client.follows.keys()])
    if (client?.content && uri !== undefined) client.unsubscribe(uri)
  },
  create(sim, chance) {
    const client = chance.pick(sim.clients)
    const channel = `ahp-session:/${sim.name()}`
    const curious = chance.pick(sim.clients)
    if (curious?.open && chance.oneIn(2)) curious.subscribe(channel)
    if (client?.open) client.ask('createSession', { channel }, () => {})
  },
  dispose(sim, chance) {
    const client = chance.pick(sim.clients)
    const uri = chance.pick(sim.living('ahp-session:'))
    if (client?.open && uri !== undefined) client.ask('disposeSession', { channel: uri }, () => {})
  },
  agent(sim, chance) {
    const { life } = sim
    life?.agent?.act(chance, () => life.world.alive)
  },
  crash(sim, chance) {
    const { durable, transactions } = sim.disk
    // What was not flushed is as good as lost, but one cannot count on it.
    sim.crash(chance.oneIn(2) ? durable : durable + chance.below(transactions.length - durable + 1))
    restart(sim, chance)
  },
  backup: (sim) => void sim.backups.push(sim.disk.durable),
  restore(sim, chance) {
    const left = chance.pick(sim.backups.filter((backup) => backup <= sim.disk.durable))
    if (left === undefined) return
    sim.crash(left)
    restart(sim, chance)
  },
  stop(sim) {
    const { life } = sim
    if (!life?.host) return
    // Agents end before their host does.
    delete life.agent
    void life.host.close().then(() => {
      if (life !== sim.life) return
      sim.crash(sim.disk.durable)
      restart(sim)
    })
  },
  full: (sim) => void (sim.disk.full = !sim.disk.full),
  break: (sim) => void (sim.disk.broken = true),
}

/** A machine takes a moment to come up again; its clock goes on. */
function restart(sim: Simulation, chance?: Chance): void {
  if (chance?.oneIn(3)) return
  sim.clock.wall = Math.max(sim.clock.wall, sim.latest) + 1500
  sim.start()
}

export function open(sim: Simulation, client: Client, chance: Chance): void {
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

/** Something a client might say there: sensible, forbidden, malformed, or the same again. */
function actionFor(sim: Simulation, channel: Uri, client: Client, chance: Chance): Action {
  const name = String(sim.name())
  const wrong = [
    { type: 'session/ready' },
    { type: 'session/titleChanged', title: 5 },
    { type: 'nobody/knows', name },
    { type: 'chat/delta', turnId: 't', partId: 'p', content: name },
  ]
  const root = [
    { type: 'root/configChanged', config: { [`sim.${chance.below(3)}`]: name } },
    { type: 'root/configChanged', config: { 'sim.same': true } },
    { type: 'root/configChanged', config: {}, replace: true },
  ]
  const session = [
    { type: 'session/titleChanged', title: name },
    { type: 'session/titleChanged', title: 'same' },
    { type: 'session/isReadChanged', isRead: chance.oneIn(2) },
    { type: 'session/activeClientSet', activeClient: { clientId: client.id, displayName: name, tools: [] } },
    { type: 'session/activeClientRemoved', clientId: client.id },
  ]
  const chat = [
    { type: 'chat/draftChanged', draft: { text: name, origin: { kind: 'user' } } },
    { type: 'chat/isReadChanged', isRead: chance.oneIn(2) },
    { type: 'chat/truncated', ...turnOf(sim, channel, chance) },
    {
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: name,
      message: { text: name, origin: { kind: 'user' } },
    },
  ]
  const terminal = [
    { type: 'terminal/titleChanged', title: name },
    { type: 'terminal/resized', cols: chance.below(3), rows: 1 },
  ]
  const known = { root, session, chat, terminal } as { readonly [kind: string]: readonly Action[] }
  const fitting = known[sim.truth.stories.get(channel)?.kind.name ?? ''] ?? wrong
  return (chance.oneIn(10) ? chance.pick(wrong) : chance.pick(fitting)) ?? { type: 'nobody/knows' }
}

function turnOf(sim: Simulation, channel: Uri, chance: Chance): object {
  const state = sim.truth.stateAt(channel, Infinity) as { turns?: readonly { id: string }[] } | undefined
  const turn = chance.pick(state?.turns ?? [])
  return turn && !chance.oneIn(4) ? { turnId: turn.id } : {}
}
