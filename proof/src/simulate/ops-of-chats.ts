import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import type { Chance } from '../chance.ts'
import type { Person } from './person.ts'
import type { Simulation } from './simulation.ts'
import { message } from './wish.ts'

/** A new chat in a session: often one that begins from a turn of another. */
export function createChat(sim: Simulation, client: Person, session: Uri, chance: Chance): void {
  const { chats } = sim.truth.stateAt(session, Infinity) as SessionState
  const source = chance.oneIn(sim.plan.theme === 'homes' ? 1 : 2)
    ? sourceIn(
        sim,
        chats.map(({ resource }) => resource),
        chance,
      )
    : {}
  const initialMessage = chance.oneIn(sim.plan.theme === 'homes' ? 4 : 2)
    ? { initialMessage: message(String(sim.name())) }
    : {}
  const chat = `ahp-chat:/${sim.name()}`
  client.ask('createChat', { channel: session, chat, ...source, ...initialMessage }, () => {})
  const curious = chance.pick(sim.clients)
  if (curious?.open && curious !== client && chance.oneIn(2)) curious.subscribe(chat)
}

/** A turn that has ended; now and then one that has not, or that is in another chat. */
function sourceIn(sim: Simulation, chats: readonly Uri[], chance: Chance): object {
  const states = chats.map((uri) => sim.truth.stateAt(uri, Infinity) as ChatState | undefined)
  const chat = chance.pick(states.filter((state) => (state?.turns.length ?? 0) > 0)) ?? states[0]
  const turn = chance.pick(chat?.turns ?? []) ?? chat?.activeTurn
  const kind = chance.oneIn(4) ? 'sideChat' : 'fork'
  if (!chat || !turn) return {}
  const named = chance.oneIn(8) ? chats[0] : chat.resource
  return { source: { kind, chat: named, turnId: turn.id } }
}

/** A chat goes to another place, to another session or to a new one. */
export function moveChat(sim: Simulation, client: Person, chance: Chance): void {
  const chat = chance.pick(
    sim.living('ahp-chat:').filter((uri) => !uri.includes('default') || chance.oneIn(8)),
  )
  if (chat === undefined) return
  client.ask('moveChat', { channel: chat, destination: destinationOf(sim, chat, chance) }, () => {})
}

function destinationOf(sim: Simulation, chat: Uri, chance: Chance): object {
  if (chance.oneIn(4)) return { kind: 'newSession' }
  const other = chance.pick(sim.living('ahp-session:'))
  const session = chance.oneIn(3) ? sim.laws.sessionOf(chat) : other
  const chats = (sim.truth.stateAt(session ?? '', Infinity) as SessionState | undefined)?.chats ?? []
  const after = chance.oneIn(3) ? undefined : chance.pick(chats)?.resource
  return { kind: 'session', session, ...(after !== undefined && { after }) }
}
