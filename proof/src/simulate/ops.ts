import type { Action, Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { Client } from './client.ts'
import type { OpName } from './plan.ts'
import type { Random } from './random.ts'
import type { Simulation } from './simulation.ts'

/** What each op does, where it makes sense. */
export const ops: { readonly [N in OpName]: (sim: Simulation, random: Random) => void } = {
  deliver(sim, random) {
    const link = random.pick(sim.clients.flatMap((client) => client.link ?? []))
    const count = random.oneIn(3) ? 100 : 1 + random.below(4)
    if (random.oneIn(2)) link?.toHost(count)
    else link?.toClient(count)
  },
  disk(sim, random) {
    if (random.oneIn(2)) return sim.disk.flush()
    for (let n = random.below(3); n >= 0; n--) sim.disk.answer(random.next())
  },
  tick: (sim, random) => {
    if (random.oneIn(8)) sim.clock.wall -= 3_600_000 * random.below(3)
    sim.tasks.push(...sim.clock.due(random.pick([0, 1, 20, 1000, 61_000, 61_000]) ?? 0))
  },
  open(sim, random) {
    const client = random.pick(sim.clients)
    if (client && (!client.link || random.oneIn(3))) open(sim, client, random)
  },
  cut(sim, random) {
    const { link } = random.pick(sim.clients) ?? {}
    if (!link) return
    link.endClient()
    if (random.oneIn(2)) link.endHost()
    else sim.late.add(link)
  },
  late(sim, random) {
    const link = random.pick([...sim.late])
    if (!link) return
    if (!random.oneIn(3)) return link.toHost(1 + random.below(5))
    link.endHost()
    sim.late.delete(link)
  },
  dispatch(sim, random) {
    const client = random.pick(sim.clients)
    const channel = random.pick(sim.living()) ?? rootUri
    for (let n = random.below(3); n >= 0; n--)
      client?.dispatch(channel, actionFor(sim, channel, client, random))
  },
  subscribe(sim, random) {
    const client = random.pick(sim.clients)
    const uri = random.pick(sim.living())
    if (client?.open && uri !== undefined) client.subscribe(uri, random.oneIn(4) ? 20 : undefined)
  },
  unsubscribe(sim, random) {
    const client = random.pick(sim.clients)
    const uri = client && random.pick([...client.follows.keys()])
    if (client?.content && uri !== undefined) client.unsubscribe(uri)
  },
  create(sim, random) {
    const client = random.pick(sim.clients)
    const channel = `ahp-session:/${sim.name()}`
    const curious = random.pick(sim.clients)
    if (curious?.open && random.oneIn(2)) curious.subscribe(channel)
    if (client?.open) client.ask('createSession', { channel }, () => {})
  },
  dispose(sim, random) {
    const client = random.pick(sim.clients)
    const uri = random.pick(sim.living('ahp-session:'))
    if (client?.open && uri !== undefined) client.ask('disposeSession', { channel: uri }, () => {})
  },
  agent(sim, random) {
    const { life } = sim
    life?.agent?.act(random, () => life.world.alive)
  },
  crash(sim, random) {
    const { durable, transactions } = sim.disk
    // What was not flushed is as good as lost, but one cannot count on it.
    sim.crash(random.oneIn(2) ? durable : durable + random.below(transactions.length - durable + 1))
    restart(sim, random)
  },
  backup: (sim) => void sim.backups.push(sim.disk.durable),
  restore(sim, random) {
    const left = random.pick(sim.backups.filter((backup) => backup <= sim.disk.durable))
    if (left === undefined) return
    sim.crash(left)
    restart(sim, random)
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
function restart(sim: Simulation, random?: Random): void {
  if (random?.oneIn(3)) return
  sim.clock.wall = Math.max(sim.clock.wall, sim.latest) + 1500
  sim.start()
}

export function open(sim: Simulation, client: Client, random: Random): void {
  if (!sim.up) {
    if (!sim.life) restart(sim)
    return
  }
  const old = client.link
  if (old) {
    old.endClient()
    sim.late.add(old)
  }
  const back = client.known && !random.oneIn(4)
  const wanted = back ? [...client.follows.keys()] : sim.living().filter(() => random.oneIn(2))
  if (back && random.oneIn(4)) wanted.push('ahp-session:/nowhere')
  // It may ask for what it never had: then it needs snapshots.
  const more = random.pick(sim.living().filter((uri) => !wanted.includes(uri) && !client.had.has(uri)))
  if (back && more !== undefined && random.oneIn(3)) wanted.push(more)
  const link = client.begin(sim.plan.weight, back ? 'reconnect' : 'initialize', wanted, random.oneIn(3))
  sim.connect(link)
}

/** Something a client might say there: sensible, forbidden, malformed, or the same again. */
function actionFor(sim: Simulation, channel: Uri, client: Client, random: Random): Action {
  const name = String(sim.name())
  const wrong = [
    { type: 'session/ready' },
    { type: 'session/titleChanged', title: 5 },
    { type: 'nobody/knows', name },
    { type: 'chat/delta', turnId: 't', partId: 'p', content: name },
  ]
  const root = [
    { type: 'root/configChanged', config: { [`sim.${random.below(3)}`]: name } },
    { type: 'root/configChanged', config: { 'sim.same': true } },
    { type: 'root/configChanged', config: {}, replace: true },
  ]
  const session = [
    { type: 'session/titleChanged', title: name },
    { type: 'session/titleChanged', title: 'same' },
    { type: 'session/isReadChanged', isRead: random.oneIn(2) },
    { type: 'session/activeClientSet', activeClient: { clientId: client.id, displayName: name, tools: [] } },
    { type: 'session/activeClientRemoved', clientId: client.id },
  ]
  const chat = [
    { type: 'chat/draftChanged', draft: { text: name, origin: { kind: 'user' } } },
    { type: 'chat/isReadChanged', isRead: random.oneIn(2) },
    { type: 'chat/truncated', ...turnOf(sim, channel, random) },
    {
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: name,
      message: { text: name, origin: { kind: 'user' } },
    },
  ]
  const terminal = [
    { type: 'terminal/titleChanged', title: name },
    { type: 'terminal/resized', cols: random.below(3), rows: 1 },
  ]
  const known = { root, session, chat, terminal } as { readonly [kind: string]: readonly Action[] }
  const fitting = known[sim.truth.stories.get(channel)?.kind.name ?? ''] ?? wrong
  return (random.oneIn(10) ? random.pick(wrong) : random.pick(fitting)) ?? { type: 'nobody/knows' }
}

function turnOf(sim: Simulation, channel: Uri, random: Random): object {
  const state = sim.truth.stateAt(channel, Infinity) as { turns?: readonly { id: string }[] } | undefined
  const turn = random.pick(state?.turns ?? [])
  return turn && !random.oneIn(4) ? { turnId: turn.id } : {}
}
