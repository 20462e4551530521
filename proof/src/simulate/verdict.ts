import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Client } from './client.ts'
import type { Simulation } from './simulation.ts'

/** When everything has come to rest: everyone sees the same, nothing is owed, nothing was done twice, all work is being done. */
export function judgeAtRest(sim: Simulation<Client>): void {
  judgeClients(sim)
  judgeHost(sim)
}

/** Whoever its clients are. */
export function judgeHost(sim: Simulation): void {
  judgeOnce(sim)
  for (const [uri, chat] of sim.laws.chats()) judgeChat(sim, uri, chat)
  for (const [uri, { lifecycle }] of sim.laws.sessions())
    if (lifecycle === 'creating' && !sim.life?.cast.creations.has(uri))
      sim.fail('I11', `${uri} is being made, and nobody makes it`)
  for (const uri of sim.laws.unborn()) sim.fail('I20', `${uri} is being made, and nobody makes it`)
  judgeList(sim)
  if (!sim.truth.living(rootUri)) sim.fail('I11', 'there is no root')
}

/** When nobody came back in time: what nobody used is gone, and nobody takes part in anything. */
export function judgeAlone(sim: Simulation): void {
  if (!sim.up) return sim.fail('I11', 'the host is down')
  sim.laws.deeds.alone(sim.laws.chats())
  for (const [uri, { activeClients }] of sim.laws.sessions()) {
    if (!sim.laws.uses.has(uri)) sim.fail('I19', `${uri} was never used, and outlives its creator`)
    if (activeClients.length > 0)
      sim.fail('I19', `${activeClients[0]?.clientId} has left, and takes part in ${uri}`)
  }
}

/** I4, I5. */
function judgeClients(sim: Simulation<Client>): void {
  for (const client of sim.clients) {
    client.audit?.complete()
    for (const [uri, { kind, state }] of client.follows)
      if (sim.truth.living(uri) && !client.eye.sees(uri, kind, state, sim.truth.stateAt(uri, Infinity)))
        sim.fail('I4', `${client.id} sees another ${uri} at rest`)
    const owed = [...client.pending, ...client.unanswered].find(({ channel }) => sim.truth.living(channel))
    if (owed)
      sim.fail('I5', `${client.id} never learned what became of ${owed.clientSeq} ${owed.action.type}`)
  }
}

/** I6. */
function judgeOnce(sim: Simulation): void {
  const done = new Set<string>()
  for (const [uri, { facts }] of sim.truth.stories)
    for (const { origin, seq } of facts) {
      if (!origin || origin.clientSeq === 0) continue
      const wish = `${origin.clientId}/${origin.clientSeq}`
      if (done.has(wish)) sim.fail('I6', `${wish} was done twice, the second time as ${seq} of ${uri}`)
      done.add(wish)
    }
}

/** I17: a turn that has not ended is worked on, or waits for its session or for a person; a queue waits for a reason. */
function judgeChat(sim: Simulation, uri: Uri, { activeTurn, queuedMessages, turns }: ChatState): void {
  const session = sim.truth.stateAt(sim.laws.sessionOf(uri) ?? '', Infinity) as SessionState | undefined
  const runs = [...(sim.life?.cast.runs ?? [])].filter(({ deaf }) => !deaf)
  const worked = runs.some(({ chat }) => chat.uri === uri && chat.turnId === activeTurn?.id)
  if (activeTurn && !worked && session?.lifecycle !== 'creating' && !sim.laws.waits(uri, activeTurn))
    sim.fail('I17', `${activeTurn.id} of ${uri} has not ended, and nobody works on it`)
  if (!activeTurn && queuedMessages && turns.at(-1)?.state !== 'error')
    sim.fail('I17', `messages wait in ${uri}, and nothing is there to wait for`)
}

/** I19: the list shows what was used, and of each what its session says. */
function judgeList(sim: Simulation): void {
  const items = sim.life?.core?.catalog.page().items ?? []
  const used = sim.laws.sessions().filter(([uri]) => sim.laws.uses.has(uri))
  const listed = items.map(({ resource }) => resource)
  const expected = used.map(([uri]) => uri)
  if (listed.toSorted().join() !== expected.toSorted().join())
    sim.fail('I19', `the list shows ${listed.join()}, and used were ${expected.join()}`)
  for (const [uri, state] of used) {
    const item = items.find(({ resource }) => resource === uri)
    if (item && !shows(item, state)) sim.fail('I18', `the list shows another ${uri} than there is`)
  }
}

const inputNeeded = 16 | 8
const failed = 2

/** Counted again, in other words than the host's. */
function shows(
  item: SessionSummary,
  { title, status, chats, defaultChat, lifecycle }: SessionState,
): boolean {
  const does = (bits: number) => chats.find((chat) => (chat.status & 31) === bits)
  const last = chats.toSorted((a, b) => Date.parse(b.modifiedAt) - Date.parse(a.modifiedAt))[0]
  const first = chats.find(({ resource }) => resource === defaultChat) ?? last
  const speaker = does(inputNeeded) ?? does(failed) ?? first
  const activity = lifecycle === 'failed' ? failed : (speaker?.status ?? 1) & 31
  // Somebody may have named one that was made for a chat, which then never came: nothing was changed in it but its name.
  const times = chats.length > 0 ? chats.map(({ modifiedAt }) => modifiedAt) : [item.modifiedAt]
  const newest = Math.max(...times.map((time) => Date.parse(time)))
  return (
    item.title === title &&
    item.status === ((status & ~31) | activity) &&
    (item.activity ?? '') === (speaker?.activity ?? '') &&
    Date.parse(item.modifiedAt) === newest &&
    equal(
      item.chats?.map((chat) => [chat.resource, chat.title, chat.status]),
      chats.map((chat) => [chat.resource, chat.title, chat.status]),
    )
  )
}
