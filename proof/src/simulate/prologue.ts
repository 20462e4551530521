import type { Action, Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'
import { Chance } from '../chance.ts'
import { viewOf } from './ops-of-all.ts'
import { lending } from './ops-of-decisions.ts'
import type { Simulation } from './simulation.ts'

/** A session, a chat that streams and a terminal, perhaps followed by everyone: so that a short plan meets something. */
export async function prologue(sim: Simulation, heal: () => Promise<void>): Promise<void> {
  await heal()
  const [first] = sim.clients
  const session = `ahp-session:/${sim.name()}`
  const message = { text: 'go', origin: { kind: 'user' } }
  const turn = { type: 'chat/turnStarted', turnId: 'first', startedAt: sim.instant, message }
  first?.create(session, false, sim.directories)
  const chat = defaultChatUri(session)
  first?.dispatch(chat, turn as Action)
  sim.life?.ghost.prepare(first)
  await heal()
  // Some turns that are over, and one that is not.
  const talkative = sim.plan.theme === 'windows' || sim.plan.theme === 'homes'
  for (let past = 0; past < (talkative ? 3 : 0); past++) {
    first?.dispatch(chat, {
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: `past-${past}`,
      message,
    } as Action)
    await heal()
    sim.life?.cast.finish()
    await heal()
  }
  if (sim.plan.theme === 'homes') await furnish(sim, session, heal)
  sim.life?.cast.prepare()
  const chance = new Chance(sim.plan.seed)
  if (sim.plan.theme === 'decisions')
    for (const client of sim.clients) client.dispatch(session, lending(client.id, chance))
  for (const client of sim.plan.prologue === 'alone' ? [] : sim.clients)
    for (const uri of sim.living()) client.subscribe(uri, undefined, viewOf(sim, uri, chance))
  await heal()
}

/** Chats that can move, with what they hold, and where to. */
async function furnish(sim: Simulation, session: Uri, heal: () => Promise<void>): Promise<void> {
  const [first] = sim.clients
  for (let n = 0; n < 2; n++) first?.create(`ahp-session:/${sim.name()}`, false)
  for (let n = 0; n < 3; n++) {
    const chat = `ahp-chat:/${sim.name()}`
    first?.ask('createChat', { channel: session, chat }, () => {})
    sim.life?.ghost.prepare(first, session, chat)
  }
  await heal()
}
