import type { Uri } from '@atrium/protocol/channel'
import type { Chance } from '../../chance.ts'
import type { SimulatedClient } from '../simulated-client.ts'
import type { Simulation } from '../simulation.ts'
import { message } from '../random-action.ts'

/** Creates a chat in a session, often as a fork of a turn. */
export function createChat(sim: Simulation, client: SimulatedClient, session: Uri, chance: Chance): void {
  const chats = sim.model.session(session)?.chats ?? []
  const source = chance.oneIn(sim.plan.theme === 'moves' ? 1 : 2)
    ? sourceIn(
        sim,
        chats.map(({ resource }) => resource),
        chance,
      )
    : {}
  const initialMessage = chance.oneIn(sim.plan.theme === 'moves' ? 4 : 2)
    ? { initialMessage: message(String(sim.name())) }
    : {}
  const chat = `ahp-chat:/${sim.name()}`
  client.ask('createChat', { channel: session, chat, ...source, ...initialMessage }, () => {})
  const observer = chance.pick(sim.clients)
  if (observer?.open && observer !== client && chance.oneIn(2)) observer.subscribe(chat)
}

/**
 * Returns the `source` of a new chat: a finished turn, sometimes an active one, or a turn under the URI of another
 * chat. Empty if there is no turn.
 */
function sourceIn(sim: Simulation, chats: readonly Uri[], chance: Chance): object {
  const states = chats.map((uri) => sim.model.chat(uri))
  const chat = chance.pick(states.filter((state) => (state?.turns.length ?? 0) > 0)) ?? states[0]
  const turn = chance.pick(chat?.turns ?? []) ?? chat?.activeTurn
  const kind = chance.oneIn(4) ? 'sideChat' : 'fork'
  if (!chat || !turn) return {}
  const named = chance.oneIn(8) ? chats[0] : chat.resource
  return { source: { kind, chat: named, turnId: turn.id } }
}

/** Moves a chat within its session, to another session or to a new one. */
export function moveChat(sim: Simulation, client: SimulatedClient, chance: Chance): void {
  const chat = chance.pick(
    sim.liveUris('ahp-chat:').filter((uri) => !uri.includes('default') || chance.oneIn(8)),
  )
  if (chat === undefined) return
  client.ask('moveChat', { channel: chat, destination: destinationOf(sim, chat, chance) }, () => {})
}

function destinationOf(sim: Simulation, chat: Uri, chance: Chance): object {
  if (chance.oneIn(4)) return { kind: 'newSession' }
  const other = chance.pick(sim.liveUris('ahp-session:'))
  const session = chance.oneIn(3) ? sim.invariants.sessionOf(chat) : other
  const chats = sim.model.session(session ?? '')?.chats ?? []
  const after = chance.oneIn(3) ? undefined : chance.pick(chats)?.resource
  return { kind: 'session', session, ...(after !== undefined && { after }) }
}
