import { Client } from './client.ts'
import { judgeAtRest, judgeAlone } from './verdict.ts'
import { restart } from './ops-of-all.ts'
import { open, ops } from './ops.ts'
import type { Plan } from './plan.ts'
import { prologue } from './prologue.ts'
import { Chance } from '../chance.ts'
import { Simulation, graceMs } from './simulation.ts'
import type { Violation } from './simulation.ts'

type Sim = Simulation<Client>

/** So many rounds of nothing but healing must bring everything to rest. */
const patience = 300

/** Does what a plan says, lets everything heal, and judges. Nothing, or the first thing that was wrong. */
export async function run(plan: Plan, trace?: (line: string) => void): Promise<Violation | undefined> {
  const sim = new Simulation<Client>(plan, clientsOf, trace)
  await settled(sim)
  if (plan.prologue !== 'none') await prologue(sim, () => heal(sim))
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

function clientsOf(sim: Sim): readonly Client[] {
  const { clients, old } = sim.plan
  return Array.from(
    { length: clients },
    (_, at) => new Client(sim, `c${at}`, at === 1 && old ? '0.9.0' : '1.0.0'),
  )
}

/** All links end, perhaps because the host does, and nobody comes back in time. */
async function leave(sim: Sim): Promise<void> {
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
export async function settled(sim: Simulation): Promise<void> {
  await new Promise(setImmediate)
  for (let task = sim.tasks.shift(); task; task = sim.tasks.shift()) {
    task()
    await new Promise(setImmediate)
  }
}

/** A host that starts is soon there: how it starts is what other plans are about. */
export async function up(sim: Simulation): Promise<void> {
  for (let round = 0; round < patience && sim.life && !sim.up; round++) {
    for (let n = sim.disk.waiting; n > 0; n--) sim.disk.answer()
    sim.disk.flush()
    await settled(sim)
  }
}

async function heal(sim: Sim): Promise<void> {
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

function unrest(sim: Sim): string {
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
