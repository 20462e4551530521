import type { Action, Uri } from '@atrium/protocol/channel'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { createChat, moveChat } from './ops-of-chats.ts'
import { decide } from './ops-of-decisions.ts'
import type { OpName } from './plan.ts'
import type { Chance } from '../chance.ts'
import type { Simulation } from './simulation.ts'
import { wishFor } from './wish.ts'

type Own = 'tick' | 'open' | 'cut' | 'subscribe' | 'unsubscribe' | 'fetch'

export type Does<P extends Simulation = Simulation> = (sim: P, chance: Chance) => void

/** What each op does, where it makes sense, but for those that kinds of clients have each their own way of. */
export const opsOfAll: { readonly [N in Exclude<OpName, Own>]: Does } = {
  deliver(sim, chance) {
    const link = chance.pick(sim.clients.flatMap((client) => client.link ?? []))
    const count = chance.oneIn(3) ? 100 : 1 + chance.below(4)
    // Where people answer, several are heard in the same moment.
    if (sim.plan.theme === 'decisions' && !chance.oneIn(4)) return exchange(sim, count)
    if (chance.oneIn(2)) link?.toHost(count)
    else link?.toClient(count)
  },
  disk(sim, chance) {
    // Decisions take many steps, one after the other: a disk that is slow with each would leave no time for any.
    if (sim.plan.theme === 'decisions' && chance.oneIn(2)) {
      for (let n = sim.disk.waiting; n > 0; n--) sim.disk.answer(chance.next())
      return sim.disk.flush()
    }
    if (chance.oneIn(sim.plan.flushes)) return sim.disk.flush()
    for (let n = chance.below(3); n >= 0; n--) sim.disk.answer(chance.next())
  },
  late(sim, chance) {
    const link = chance.pick([...sim.late])
    if (!link) return
    if (!chance.oneIn(3)) return link.toHost(1 + chance.below(5))
    link.endHost()
    sim.late.delete(link)
  },
  dispatch(sim, chance) {
    if (sim.plan.theme === 'decisions' && !chance.oneIn(4)) return decide(sim, chance)
    const client = chance.pick(sim.clients)
    const any = chance.oneIn(sim.plan.theme === 'links' ? 1 : 4)
    const channel = chance.pick(sim.living(any ? '' : 'ahp-chat:')) ?? rootUri
    for (let n = chance.below(3); n >= 0; n--)
      client?.dispatch(channel, wishFor(sim, channel, client.id, chance))
  },
  create(sim, chance) {
    const client = chance.pick(sim.clients)
    const channel = `ahp-session:/${sim.name()}`
    const curious = chance.pick(sim.clients)
    if (curious?.open && chance.oneIn(2)) curious.subscribe(channel)
    if (!client?.open) return
    client.create(channel, chance.oneIn(4), sim.directories)
    // Some begin before they were answered.
    const uri = chance.oneIn(2) ? channel : defaultChatUri(channel)
    const title = { type: 'session/titleChanged', title: String(sim.name()) } as Action
    if (chance.oneIn(3)) client.dispatch(channel, title)
    else if (chance.oneIn(2)) client.dispatch(uri, wishFor(sim, uri, client.id, chance))
  },
  dispose(sim, chance) {
    const client = chance.pick(sim.clients)
    const uri = chance.pick(sim.living('ahp-session:'))
    if (client?.open && uri !== undefined) client.ask('disposeSession', { channel: uri }, () => {})
  },
  chat(sim, chance) {
    const client = chance.pick(sim.clients)
    const chats = sim.living('ahp-chat:')
    const [first] = sim.living('ahp-session:')
    if (!client?.open || first === undefined) return
    const doomed = chance.pick(chats)
    if (doomed !== undefined && chats.length > 2 && chance.oneIn(3))
      return client.ask('disposeChat', { channel: doomed }, () => {})
    if (chance.oneIn(2)) return moveChat(sim, client, chance)
    createChat(sim, client, chance.pick(sim.living('ahp-session:')) ?? first, chance)
  },
  list(sim, chance) {
    const client = chance.pick(sim.clients)
    if (client?.open) client.ask('listSessions', {}, () => {})
  },
  agent: (sim, chance) => sim.up && sim.life?.cast.act(chance),
  ghost: (sim, chance) => sim.up && sim.life?.ghost.act(chance),
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
    sim.restored++
    sim.crash(left)
    restart(sim, chance)
  },
  stop(sim) {
    const { life } = sim
    if (!life?.host) return
    void life.host.close().then(() => {
      if (life !== sim.life) return
      sim.crash(sim.disk.durable)
      restart(sim)
    })
  },
  full: (sim) => void (sim.disk.full = !sim.disk.full),
  break: (sim) => void (sim.disk.broken = true),
}

function exchange({ clients }: Simulation, count: number): void {
  for (const { link } of clients) link?.toHost(count)
  for (const { link } of clients) link?.toClient(count)
}

/** Of chats some see the newest turns only. */
export function viewOf({ plan }: Simulation, uri: Uri, chance: Chance): number | undefined {
  const narrow = uri.startsWith('ahp-chat:') && (plan.theme === 'windows' || chance.oneIn(4))
  return narrow ? chance.below(3) : undefined
}

/** A machine takes a moment to come up again; its clock goes on. */
export function restart(sim: Simulation, chance?: Chance): void {
  if (chance?.oneIn(3)) return
  sim.clock.wall = Math.max(sim.clock.wall, sim.latest) + 1500
  sim.start()
}
