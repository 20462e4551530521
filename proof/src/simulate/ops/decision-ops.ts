import type { Action, Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { Chance } from '../../chance.ts'
import { answersTo } from '../random-answer.ts'
import { callIn, clientRunning, waitsFor } from '../tool-calls.ts'
import type { Simulation } from '../simulation.ts'
import { count } from '../tally.ts'
import { toolNames } from '../agent-tools.ts'
import { message } from '../random-action.ts'

/**
 * Makes a client answer an open request of a chat. Sometimes a second client answers the same request at once. In one
 * of four cases, a client changes the permissions or its tools instead.
 */
export function decide(sim: Simulation, chance: Chance): void {
  if (chance.oneIn(4)) return arrange(sim, chance)
  const idle = sim.invariants.chats().filter(([, { activeTurn }]) => !activeTurn)
  const asking = sim.invariants
    .chats()
    .filter(([, { activeTurn }]) => activeTurn && waitsFor(activeTurn).length > 0)
  const [chat, state] = chance.pick(chance.oneIn(10) ? sim.invariants.chats() : asking) ?? []
  if (chat === undefined || !state) return begin(sim, chance.pick(idle)?.[0], chance)
  const answer = chance.pick(answersTo(state, String(sim.name()), chance)) as Action | undefined
  if (!answer) return
  const [any, second] = chance.shuffled(sim.clients)
  const { toolCallId = '' } = answer as { readonly toolCallId?: string }
  const executor = sim.clients.find(({ id }) => id === clientRunning(callIn(state, toolCallId)))
  const first = chance.oneIn(4) ? any : (executor ?? any)
  first?.dispatch(chat, answer)
  // Sometimes the client that runs the tool leaves while it runs.
  if (executor && chance.oneIn(3))
    executor.dispatch(sim.invariants.sessionOf(chat) ?? '', {
      type: 'session/activeClientRemoved',
      clientId: executor.id,
    } as Action)
  if (!chance.oneIn(3)) return
  count('answers at once')
  // Another client gives the same answer, or a different answer to the same call.
  const others = answersTo(state, String(sim.name()), chance) as readonly (Action & { toolCallId?: string })[]
  const again = others.find((each) => (each.toolCallId ?? '') === toolCallId)
  second?.dispatch(chat, (chance.oneIn(3) ? undefined : again) ?? answer)
}

/** Starts a turn, so that an agent will ask something. */
function begin(sim: Simulation, chat: Uri | undefined, chance: Chance): void {
  const turnId = `turn-${sim.name()}`
  const started = { type: 'chat/turnStarted', turnId, startedAt: sim.instant, message: message('go') }
  if (chat !== undefined) chance.pick(sim.clients)?.dispatch(chat, started as Action)
}

/** Changes the tools that a client offers, or the saved permissions. */
function arrange(sim: Simulation, chance: Chance): void {
  const client = chance.pick(sim.clients)
  const session = chance.pick(sim.liveUris('ahp-session:'))
  if (!client) return
  if (chance.oneIn(3)) return client.dispatch(rootUri, ruled(sim, rootUri, 'root/configChanged', chance))
  if (session === undefined) return
  if (chance.oneIn(2)) return client.dispatch(session, ruled(sim, session, 'session/configChanged', chance))
  client.dispatch(session, offerTools(client.id, chance))
}

export function offerTools(clientId: string, chance: Chance): Action {
  const tools = toolNames.filter(() => chance.oneIn(2)).map((name) => ({ name }))
  const activeClient = { clientId, displayName: clientId, tools }
  const taken = { type: 'session/activeClientRemoved', clientId }
  return (chance.oneIn(3) ? taken : { type: 'session/activeClientSet', activeClient }) as Action
}

/** Returns a config change that mostly removes a permission, and sometimes adds one that nobody was asked for. */
function ruled(sim: Simulation, uri: Uri, type: string, chance: Chance): Action {
  const state = uri === rootUri ? sim.model.root() : sim.model.session(uri)
  const rules = (state?.config?.values['atrium.permissions'] ?? []) as readonly object[]
  const folder = uri === rootUri ? { folder: chance.oneIn(2) ? 'file:///a' : 'file:///b' } : {}
  const rule = { id: String(sim.name()), tool: chance.pick(toolNames) ?? 'run', ...folder }
  const taken = chance.oneIn(3) ? [] : rules.slice(1)
  const left = rules.length === 0 || chance.oneIn(5) ? [...rules, rule] : taken
  return { type, config: { 'atrium.permissions': left } } as Action
}
