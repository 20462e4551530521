import type { Action, Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'
import { judgeAtRest, judgeAlone } from './verdict.ts'
import { open, ops, restart, viewOf } from './ops.ts'
import { lending } from './ops-of-decisions.ts'
import type { Plan } from './plan.ts'
import { Chance } from '../chance.ts'
import { Simulation, graceMs } from './simulation.ts'
import type { Violation } from './simulation.ts'

/** So many rounds of nothing but healing must bring everything to rest. */
const patience = 300

/** Does what a plan says, lets everything heal, and judges. Nothing, or the first thing that was wrong. */
export async function run(plan: Plan, trace?: (line: string) => void): Promise<Violation | undefined> {
  const sim = new Simulation(plan, trace)
  await settled(sim)
  if (plan.prologue !== 'none') await prologue(sim)
  for (const { name, dice } of plan.ops) {
    trace?.(`-- ${name}`)
    ops[name](sim, new Chance(dice))
    await settled(sim)
    if (plan.theme === 'decisions') await up(sim)
    if (sim.violation) return sim.violation
  }
  trace?.('-- everything heals')
  await heal(sim)
  if (!sim.violation) judgeAtRest(sim)
  if (sim.violation) return sim.violation
  // Once more from the disk alone: what was in memory must not have been needed.
  trace?.('-- once more from the disk')
  sim.crash(sim.disk.durable)
  await heal(sim)
  if (!sim.violation) judgeAtRest(sim)
  if (sim.violation) return sim.violation
  trace?.('-- everyone leaves for good')
  await leave(sim)
  if (!sim.violation) judgeAlone(sim)
  return sim.violation
}

/** A session, a chat that streams and a terminal, perhaps followed by everyone: so that a short plan meets something. */
async function prologue(sim: Simulation): Promise<void> {
  await heal(sim)
  const [first] = sim.clients
  const session = `ahp-session:/${sim.name()}`
  const message = { text: 'go', origin: { kind: 'user' } }
  const turn = { type: 'chat/turnStarted', turnId: 'first', startedAt: sim.instant, message }
  first?.create(session, false, sim.directories)
  const chat = defaultChatUri(session)
  first?.dispatch(chat, turn as Action)
  sim.life?.ghost.prepare(first)
  await heal(sim)
  // Some turns that are over, and one that is not.
  const talkative = sim.plan.theme === 'windows' || sim.plan.theme === 'homes'
  for (let past = 0; past < (talkative ? 3 : 0); past++) {
    first?.dispatch(chat, {
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: `past-${past}`,
      message,
    } as Action)
    await heal(sim)
    sim.life?.cast.finish()
    await heal(sim)
  }
  if (sim.plan.theme === 'homes') await furnish(sim, session)
  sim.life?.cast.prepare()
  const chance = new Chance(sim.plan.seed)
  if (sim.plan.theme === 'decisions')
    for (const client of sim.clients) client.dispatch(session, lending(client.id, chance))
  for (const client of sim.plan.prologue === 'alone' ? [] : sim.clients)
    for (const uri of sim.living()) client.subscribe(uri, undefined, viewOf(sim, uri, chance))
  await heal(sim)
}

/** Chats that can move, with what they hold, and where to. */
async function furnish(sim: Simulation, session: Uri): Promise<void> {
  const [first] = sim.clients
  for (let n = 0; n < 2; n++) first?.create(`ahp-session:/${sim.name()}`, false)
  for (let n = 0; n < 3; n++) {
    const chat = `ahp-chat:/${sim.name()}`
    first?.ask('createChat', { channel: session, chat }, () => {})
    sim.life?.ghost.prepare(first, session, chat)
  }
  await heal(sim)
}

/** All links end, perhaps because the host does, and nobody comes back in time. */
async function leave(sim: Simulation): Promise<void> {
  for (const { link } of sim.clients) {
    link?.endClient()
    link?.endHost()
  }
  if (sim.plan.seed % 2 === 0) {
    sim.crash(sim.disk.durable)
    restart(sim)
  }
  let alone = 0
  for (let round = 0; round < patience && (alone < 3 || sim.disk.waiting > 0); round++) {
    for (let n = sim.disk.waiting; n > 0; n--) sim.disk.answer()
    sim.disk.flush()
    if (sim.up) alone++
    sim.tasks.push(...sim.clock.due(sim.up ? graceMs : 0))
    await settled(sim)
  }
}

/** Until nothing happens by itself. Everything that waits is in promises, so one turn of the loop is enough. */
async function settled(sim: Simulation): Promise<void> {
  await new Promise(setImmediate)
  for (let task = sim.tasks.shift(); task; task = sim.tasks.shift()) {
    task()
    await new Promise(setImmediate)
  }
}

/** A host that starts is soon there: how it starts is what other plans are about. */
async function up(sim: Simulation): Promise<void> {
  for (let round = 0; round < patience && sim.life && !sim.up; round++) {
    for (let n = sim.disk.waiting; n > 0; n--) sim.disk.answer()
    sim.disk.flush()
    await settled(sim)
  }
}

async function heal(sim: Simulation): Promise<void> {
  sim.disk.full = false
  sim.disk.broken = false
  for (const link of sim.late) link.endHost()
  sim.late.clear()
  const chance = new Chance(sim.plan.seed)
  let quiet = 0
  for (let round = 0; quiet < 2; round++) {
    if (round > patience) return sim.fail('I11', `does not come to rest: ${unrest(sim)}`)
    const busy = unrest(sim) !== ''
    quiet = busy ? 0 : quiet + 1
    for (const client of sim.clients) if (!client.link) open(sim, client, chance)
    // Somebody waits for an answer as long as these are made.
    for (const [uri, { chats }] of sim.laws.sessions())
      if (chats.length === 0) sim.life?.cast.creations.get(uri)?.()
    for (let n = sim.disk.waiting; n > 0; n--) sim.disk.answer()
    sim.disk.flush()
    for (const { link } of sim.clients) {
      link?.toHost(100)
      link?.toClient(100)
    }
    sim.tasks.push(...sim.clock.due(busy ? 50 : 1000))
    await settled(sim)
    if (sim.violation) return
  }
}

function unrest(sim: Simulation): string {
  const found = [
    !sim.up && 'the host is down',
    sim.disk.waiting > 0 && 'the disk works',
    ...sim.clients.map((client) => !client.content && `${client.id} waits for an answer`),
    ...sim.clients.map(
      (client) => client.link && client.link.waiting > 0 && `${client.id} has frames under way`,
    ),
  ]
  return found.filter((text) => typeof text === 'string').join(', ')
}
