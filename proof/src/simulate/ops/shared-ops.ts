import type { Action, Uri } from '@atrium/protocol/channel'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { createChat, moveChat } from './chat-ops.ts'
import { change } from './change-ops.ts'
import { decide } from './decision-ops.ts'
import type { OpName } from '../plan.ts'
import type { Chance } from '../../chance.ts'
import type { Simulation } from '../simulation.ts'
import { count } from '../tally.ts'
import { randomAction } from '../random-action.ts'
import type { SimulatedClient } from '../simulated-client.ts'
import { randomChoice } from '../speech/older-action.ts'

type ClientOp = 'tick' | 'open' | 'cut' | 'subscribe' | 'unsubscribe' | 'fetch'

export type OpFunction<P extends Simulation = Simulation> = (sim: P, chance: Chance) => void

/**
 * The operations of a plan that work the same for every kind of client. An operation that makes no sense at the
 * moment does nothing.
 */
export const sharedOps: { readonly [N in Exclude<OpName, ClientOp>]: OpFunction } = {
  deliver(sim, chance) {
    const link = chance.pick(sim.clients.flatMap((client) => client.link ?? []))
    const frames = chance.oneIn(3) ? 100 : 1 + chance.below(4)
    // In these themes, frames of several clients arrive at the same moment.
    const together = sim.plan.theme === 'decisions' || sim.plan.theme === 'changes'
    if (together && !chance.oneIn(4)) return exchange(sim, frames)
    if (chance.oneIn(2)) link?.toHost(frames)
    else link?.toClient(frames)
  },
  disk(sim, chance) {
    const { folder } = sim.changes ?? {}
    for (let n = folder ? chance.below(8) : 0; n > 0; n--) sim.tasks.push(() => folder?.next(chance.next())())
    // A user's decision, such as the approval of a tool call, takes many steps one after the other. If the disk were
    // slow at each step, no decision would be complete before the run ends.
    if ((sim.plan.theme === 'decisions' || folder) && chance.oneIn(2)) {
      for (let n = sim.disk.waiting; n > 0; n--) sim.disk.answer(chance.next())
      return sim.disk.flush()
    }
    if (chance.oneIn(sim.plan.flushes)) return sim.disk.flush()
    for (let n = chance.below(3); n >= 0; n--) sim.disk.answer(chance.next())
  },
  halfOpen(sim, chance) {
    const link = chance.pick([...sim.halfOpen])
    if (!link) return
    if (!chance.oneIn(3)) return link.toHost(1 + chance.below(5))
    link.endHost()
    sim.halfOpen.delete(link)
  },
  dispatch(sim, chance) {
    if (sim.plan.theme === 'decisions' && !chance.oneIn(4)) return decide(sim, chance)
    const client = chance.pick(sim.clients)
    const any = chance.oneIn(sim.plan.theme === 'links' ? 1 : 4)
    const channel = chance.pick(sim.liveUris(any ? '' : 'ahp-chat:')) ?? rootUri
    for (let n = chance.below(3); n >= 0; n--)
      client?.dispatch(channel, randomAction(sim, channel, client.id, chance))
    if (client?.choosesModels) chooseModel(sim, client, chance)
  },
  create(sim, chance) {
    const client = chance.pick(sim.clients)
    const channel = `ahp-session:/${sim.name()}`
    const observer = chance.pick(sim.clients)
    if (observer?.open && chance.oneIn(2)) observer.subscribe(channel)
    if (!client?.open) return
    client.create(channel, chance.oneIn(4), sim.directories)
    // Some clients use a session before its creation is answered.
    const uri = chance.oneIn(2) ? channel : defaultChatUri(channel)
    const title = { type: 'session/titleChanged', title: String(sim.name()) } as Action
    if (chance.oneIn(3)) client.dispatch(channel, title)
    else if (chance.oneIn(2)) client.dispatch(uri, randomAction(sim, uri, client.id, chance))
  },
  dispose(sim, chance) {
    const client = chance.pick(sim.clients)
    const uri = chance.pick(sim.liveUris('ahp-session:'))
    if (client?.open && uri !== undefined) client.ask('disposeSession', { channel: uri }, () => {})
  },
  chat(sim, chance) {
    const client = chance.pick(sim.clients)
    const chats = sim.liveUris('ahp-chat:')
    const [first] = sim.liveUris('ahp-session:')
    if (!client?.open || first === undefined) return
    const disposable = chance.pick(chats)
    if (disposable !== undefined && chats.length > 2 && chance.oneIn(3))
      return client.ask('disposeChat', { channel: disposable }, () => {})
    if (chance.oneIn(2)) return moveChat(sim, client, chance)
    createChat(sim, client, chance.pick(sim.liveUris('ahp-session:')) ?? first, chance)
  },
  list(sim, chance) {
    const client = chance.pick(sim.clients)
    if (client?.open) client.ask('listSessions', {}, () => {})
  },
  agent: (sim, chance) => sim.up && sim.hostRun?.agents.act(chance),
  terminal: (sim, chance) => sim.up && sim.hostRun?.terminals.act(chance),
  crash(sim, chance) {
    const { durable, transactions } = sim.disk
    // Transactions that were not flushed may be lost or kept.
    sim.crash(chance.oneIn(2) ? durable : durable + chance.below(transactions.length - durable + 1))
    // Somebody changes files while the host is down.
    if (sim.changes && chance.oneIn(2)) sim.changes.person(chance)
    restart(sim, chance)
  },
  backup: (sim) => void sim.backups.push(sim.disk.durable),
  restore(sim, chance) {
    const left = chance.pick(sim.backups.filter((backup) => backup <= sim.disk.durable))
    if (left === undefined) return
    sim.restored++
    // The bound of the disk is the highest sequence number that may have been assigned. Every second restore also
    // brings back the older bound. After the other restores the newer bound is still there, so the host knows which
    // numbers it has lost, whatever the clock says.
    const olderBound = sim.restored % 2 === 0
    // While the host is down, `sim.crash` does nothing, so no backup is restored.
    const restores = sim.hostRun !== undefined
    sim.crash(left, olderBound)
    // Sets the clock back by two hours if the bound covers all numbers that were assigned. After the restore of an
    // older bound, only the clock keeps new numbers apart from lost ones, until a host has stored a new bound.
    const isBound = Math.ceil(sim.disk.bound / 1000) >= sim.latest
    if (isBound && !olderBound && restores) sim.latest = sim.clock.wall -= 7_200_000
    restart(sim, chance)
  },
  stop(sim) {
    const { hostRun } = sim
    if (!hostRun?.host) return
    void hostRun.host.close().then(() => {
      if (hostRun !== sim.hostRun) return
      sim.crash(sim.disk.durable)
      restart(sim)
    })
  },
  change,
  secondHost: (sim, chance) => sim.changes?.secondHost.act(chance),
  full: (sim) => void (sim.disk.full = !sim.disk.full),
  break: (sim) => void (sim.disk.broken = true),
  seal(sim, chance) {
    const uri = chance.pick([rootUri, ...sim.liveUris()]) ?? rootUri
    const numbers = sim.disk.numbersOf(uri)
    // Any part of what is durable may be compressed (sealed), at any moment.
    const upTo = chance.oneIn(2) ? numbers.at(-1) : chance.pick(numbers)
    if (upTo !== undefined && !sim.disk.full) void sim.disk.seal(uri, upTo, 1)
  },
  retention(sim, chance) {
    const isSet = typeof sim.model.root()?.config?.values[retentionKey] === 'number'
    if (isSet === chance.oneIn(16)) {
      const config = { [retentionKey]: isSet ? null : 1 }
      chance.pick(sim.clients)?.dispatch(rootUri, { type: 'root/configChanged', config } as Action)
    }
    passDays(sim, chance, 1 + chance.below(4))
  },
}

/**
 * Lets days pass one after the other, because the host looks for old actions once a day. The disk answers a part of the reads
 * of this work. What it reads of a channel may hang until a later day.
 */
function passDays(sim: Simulation, chance: Chance, days: number): void {
  const { clock, disk, tasks } = sim
  count('days passed')
  const [slow] = chance.pick(sim.invariants.chats().filter(([, { turns }]) => turns.length > 0)) ?? []
  if (slow !== undefined && chance.oneIn(2)) disk.hang(slow)
  else disk.resume()
  tasks.push(...clock.due(dayMs + chance.below(dayMs)))
  for (let n = chance.below(60); n > 0; n--) tasks.push(() => disk.answer(chance.next()))
  if (days > 1) tasks.push(() => passDays(sim, chance, days - 1))
}

const retentionKey = 'atrium.retention'
const dayMs = 24 * 3_600_000

/**
 * Chooses a model for a session, mostly for one with an active turn. In such a session the choice waits until the turn ends.
 */
export function chooseModel(sim: Simulation, client: SimulatedClient, chance: Chance): void {
  const busy = sim.invariants.chats().filter(([, { activeTurn }]) => activeTurn)
  const [chat = ''] = chance.pick(busy) ?? []
  const session = sim.invariants.sessionOf(chat) ?? chance.pick(sim.liveUris('ahp-session:'))
  if (session !== undefined && chance.oneIn(2))
    client.dispatch(session, randomChoice(String(sim.name()), chance))
}

function exchange({ clients }: Simulation, frames: number): void {
  for (const { link } of clients) link?.toHost(frames)
  for (const { link } of clients) link?.toClient(frames)
}

/** Returns the number of newest turns to subscribe to; undefined for all. */
export function viewOf({ plan, model }: Simulation, uri: Uri, chance: Chance): number | undefined {
  const isChat = model.channels.get(uri)?.kind.name === 'chat'
  const narrow = isChat && (plan.theme === 'windows' || chance.oneIn(4))
  return narrow ? chance.below(3) : undefined
}

/**
 * Starts the host again, after 1.5 s of wall-clock time. With `chance`, the host stays down in one of three cases.
 */
export function restart(sim: Simulation, chance?: Chance): void {
  if (chance?.oneIn(3)) return
  sim.clock.wall = Math.max(sim.clock.wall, sim.latest) + 1500
  sim.start()
}
