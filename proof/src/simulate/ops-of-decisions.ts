import type { Action, Uri } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Chance } from '../chance.ts'
import { answersTo } from './answer.ts'
import { callIn, lenderOf, openIn } from './call.ts'
import type { Simulation } from './simulation.ts'
import { met } from './tally.ts'
import { toolNames } from './tools.ts'
import { message } from './wish.ts'

/** Somebody decides something: mostly what a chat asks, often several at once; else what is allowed, and what is lent. */
export function decide(sim: Simulation, chance: Chance): void {
  if (chance.oneIn(4)) return arrange(sim, chance)
  const idle = sim.laws.chats().filter(([, { activeTurn }]) => !activeTurn)
  const asking = sim.laws.chats().filter(([, { activeTurn }]) => activeTurn && openIn(activeTurn).length > 0)
  const [chat, state] = chance.pick(chance.oneIn(10) ? sim.laws.chats() : asking) ?? []
  if (chat === undefined || !state) return begin(sim, chance.pick(idle)?.[0], chance)
  const answer = chance.pick(answersTo(state, String(sim.name()), chance)) as Action | undefined
  if (!answer) return
  const [any, second] = chance.shuffled(sim.clients)
  const { toolCallId = '' } = answer as { readonly toolCallId?: string }
  const lender = sim.clients.find(({ id }) => id === lenderOf(callIn(state, toolCallId)))
  const first = chance.oneIn(4) ? any : (lender ?? any)
  first?.dispatch(chat, answer)
  // Who lends a tool goes while it runs.
  if (lender && chance.oneIn(3))
    lender.dispatch(sim.laws.sessionOf(chat) ?? '', {
      type: 'session/activeClientRemoved',
      clientId: lender.id,
    } as Action)
  if (!chance.oneIn(3)) return
  met('answers at once')
  // The same again, or something else of the same call.
  const others = answersTo(state, String(sim.name()), chance) as readonly (Action & { toolCallId?: string })[]
  const again = others.find((each) => (each.toolCallId ?? '') === toolCallId)
  second?.dispatch(chat, (chance.oneIn(3) ? undefined : again) ?? answer)
}

/** Nobody asks anything: somebody sees to it that somebody will. */
function begin(sim: Simulation, chat: Uri | undefined, chance: Chance): void {
  const turnId = `turn-${sim.name()}`
  const started = { type: 'chat/turnStarted', turnId, startedAt: sim.instant, message: message('go') }
  if (chat !== undefined) chance.pick(sim.clients)?.dispatch(chat, started as Action)
}

/** What clients say beside the chats: which tools they lend, and which rules there are. */
function arrange(sim: Simulation, chance: Chance): void {
  const client = chance.pick(sim.clients)
  const session = chance.pick(sim.living('ahp-session:'))
  if (!client) return
  if (chance.oneIn(3)) return client.dispatch(rootUri, ruled(sim, rootUri, 'root/configChanged', chance))
  if (session === undefined) return
  if (chance.oneIn(2)) return client.dispatch(session, ruled(sim, session, 'session/configChanged', chance))
  client.dispatch(session, lending(client.id, chance))
}

export function lending(clientId: string, chance: Chance): Action {
  const tools = toolNames.filter(() => chance.oneIn(2)).map((name) => ({ name }))
  const activeClient = { clientId, displayName: clientId, tools }
  const taken = { type: 'session/activeClientRemoved', clientId }
  return (chance.oneIn(3) ? taken : { type: 'session/activeClientSet', activeClient }) as Action
}

/** Mostly a rule is taken back; now and then one is given without anybody having been asked. */
function ruled(sim: Simulation, uri: Uri, type: string, chance: Chance): Action {
  const state = sim.truth.stateAt(uri, Infinity) as Pick<SessionState, 'config'> | undefined
  const rules = (state?.config?.values['atrium.permissions'] ?? []) as readonly object[]
  const folder = uri === rootUri ? { folder: chance.oneIn(2) ? 'file:///a' : 'file:///b' } : {}
  const rule = { id: String(sim.name()), tool: chance.pick(toolNames) ?? 'run', ...folder }
  const taken = chance.oneIn(3) ? [] : rules.slice(1)
  const left = rules.length === 0 || chance.oneIn(5) ? [...rules, rule] : taken
  return { type, config: { 'atrium.permissions': left } } as Action
}
