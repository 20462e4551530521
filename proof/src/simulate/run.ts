import { rootUri } from '@atrium/protocol/uri'
import { ops, open } from './ops.ts'
import type { Plan } from './plan.ts'
import { Chance } from '../chance.ts'
import { Simulation } from './simulation.ts'
import type { Violation } from './simulation.ts'
import { alike } from './truth.ts'

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
    if (sim.violation) return sim.violation
  }
  trace?.('-- everything heals')
  await heal(sim)
  if (!sim.violation) atRest(sim)
  if (sim.violation) return sim.violation
  // Once more from the disk alone: what was in memory must not have been needed.
  trace?.('-- once more from the disk')
  sim.crash(sim.disk.durable)
  await heal(sim)
  if (!sim.violation) atRest(sim)
  return sim.violation
}

/** A session, a chat that streams and a terminal, perhaps followed by everyone: so that a short plan meets something. */
async function prologue(sim: Simulation): Promise<void> {
  await heal(sim)
  sim.clients[0]?.ask('createSession', { channel: `ahp-session:/${sim.name()}` }, () => {})
  await heal(sim)
  for (let round = 0; round < 4; round++) {
    sim.life?.agent?.prepare()
    await heal(sim)
  }
  if (sim.plan.prologue === 'alone') return
  for (const client of sim.clients) for (const uri of sim.living()) client.subscribe(uri)
  await heal(sim)
}

/** Until nothing happens by itself. Everything that waits is in promises, so one turn of the loop is enough. */
async function settled(sim: Simulation): Promise<void> {
  await new Promise(setImmediate)
  for (let task = sim.tasks.shift(); task; task = sim.tasks.shift()) {
    task()
    await new Promise(setImmediate)
  }
}

async function heal(sim: Simulation): Promise<void> {
  sim.disk.full = false
  sim.disk.broken = false
  for (const link of sim.late) link.endHost()
  sim.late.clear()
  const chance = new Chance(sim.plan.seed)
  let quiet = 0
  for (let round = 0; quiet < 3; round++) {
    if (round > patience) return sim.fail('I11', `does not come to rest: ${unrest(sim)}`)
    const busy = unrest(sim) !== ''
    quiet = busy ? 0 : quiet + 1
    for (const client of sim.clients) if (!client.link) open(sim, client, chance)
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

/** I4, I5, I6: everyone sees the same, nothing is owed, nothing was done twice. */
function atRest(sim: Simulation): void {
  for (const client of sim.clients) {
    client.audit?.complete()
    for (const [uri, { kind, state }] of client.follows)
      if (sim.truth.living(uri) && !alike(kind, state, sim.truth.stateAt(uri, Infinity)))
        sim.fail('I4', `${client.id} sees another ${uri} at rest`)
    const owed = [...client.pending, ...client.unanswered].find(({ channel }) => sim.truth.living(channel))
    if (owed)
      sim.fail('I5', `${client.id} never learned what became of ${owed.clientSeq} ${owed.action.type}`)
  }
  const done = new Set<string>()
  for (const [uri, { facts }] of sim.truth.stories)
    for (const { origin, seq } of facts) {
      if (!origin || origin.clientSeq === 0) continue
      const wish = `${origin.clientId}/${origin.clientSeq}`
      if (done.has(wish)) sim.fail('I6', `${wish} was done twice, the second time as ${seq} of ${uri}`)
      done.add(wish)
    }
  if (!sim.truth.living(rootUri)) sim.fail('I11', 'there is no root')
}
