import type { Action, Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'
import { Chance } from '../../chance.ts'
import { hasSecondHost } from '../plan.ts'
import { viewOf } from './shared-ops.ts'
import { offerTools } from './decision-ops.ts'
import type { Simulation } from '../simulation.ts'

/**
 * Creates a session, a streaming chat and a terminal, perhaps with all clients subscribed, so that a short plan has
 * something to act on.
 */
export async function setUp(sim: Simulation, heal: () => Promise<void>): Promise<void> {
  await heal()
  const [first] = sim.clients
  const session = `ahp-session:/${sim.name()}`
  const message = { text: 'go', origin: { kind: 'user' } }
  const turn = { type: 'chat/turnStarted', turnId: 'first', startedAt: sim.instant, message }
  first?.create(session, false, sim.directories)
  const chat = defaultChatUri(session)
  first?.dispatch(chat, turn as Action)
  sim.hostRun?.terminals.prepare(first)
  await heal()
  // Some finished turns, then an active one.
  const talkative = ['windows', 'moves', 'changes'].includes(sim.plan.theme)
  const dice = new Chance(sim.plan.seed)
  // In one of four runs. They have their own dice, so that the other runs do not depend on them.
  const busyDice = new Chance(sim.plan.seed + 0x20b)
  const endsBusily = busyDice.oneIn(4)
  const hostDice = new Chance(sim.plan.seed + 0x407f)
  for (let past = 0; past < (talkative ? 3 : 0); past++) {
    first?.dispatch(chat, {
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: `past-${past}`,
      message,
    } as Action)
    await heal()
    if (sim.changes) {
      sim.hostRun?.agents.prepare()
      await heal()
      // Others change files, too, perhaps while a call of the turn runs.
      if (dice.oneIn(2)) sim.hostRun?.terminals.act(dice)
      if (dice.oneIn(4)) sim.changes.person(dice)
      if (hasSecondHost(sim.plan.seed)) sim.changes.secondHost.act(hostDice)
      sim.hostRun?.agents.prepare()
      await heal()
    }
    sim.hostRun?.agents.finish()
    if (sim.changes && endsBusily) {
      // The turn ends, perhaps with a call that runs. Then a terminal changes a file before the end capture is taken.
      await new Promise(setImmediate)
      sim.hostRun?.terminals.act(busyDice)
    }
    await heal()
  }
  if (sim.changes) {
    for (const { id } of sim.model.chat(chat)?.turns ?? []) first?.subscribe(`${chat}/changeset/turn/${id}`)
    await heal()
  }
  if (sim.plan.theme === 'moves') await setUpMoves(sim, session, heal)
  sim.hostRun?.agents.prepare()
  const chance = new Chance(sim.plan.seed)
  if (sim.plan.theme === 'decisions')
    for (const client of sim.clients) client.dispatch(session, offerTools(client.id, chance))
  for (const client of sim.plan.setup === 'unsubscribed' ? [] : sim.clients)
    for (const uri of sim.liveUris()) client.subscribe(uri, undefined, viewOf(sim, uri, chance))
  await heal()
}

/** Creates chats that can move, terminals they hold, and sessions to move them to. */
async function setUpMoves(sim: Simulation, session: Uri, heal: () => Promise<void>): Promise<void> {
  const [first] = sim.clients
  for (let n = 0; n < 2; n++) first?.create(`ahp-session:/${sim.name()}`, false)
  for (let n = 0; n < 3; n++) {
    const chat = `ahp-chat:/${sim.name()}`
    first?.ask('createChat', { channel: session, chat }, () => {})
    sim.hostRun?.terminals.prepare(first, session, chat)
  }
  await heal()
}
