import { searchOf } from '@atrium/host/search'
import { MinimalClient } from './minimal-client.ts'
import { checkSearchIndex } from './checks/search-index.ts'
import { checkAtRest, checkWithoutClients } from './final-checks.ts'
import { restart } from './ops/shared-ops.ts'
import { lookBack } from './ops/change-ops.ts'
import { open, ops } from './ops/ops.ts'
import type { Plan } from './plan.ts'
import { setUp } from './ops/setup.ts'
import { Chance } from '../chance.ts'
import { Simulation, graceMs } from './simulation.ts'
import type { Violation } from './simulation.ts'

type Sim = Simulation<MinimalClient>

/** Number of fault-free rounds within which everything must come to rest. */
const maxRounds = 300

/** Executes a plan, lets everything heal, and checks the result. Returns the first violation. */
export async function run(plan: Plan, trace?: (line: string) => void): Promise<Violation | undefined> {
  const sim = new Simulation<MinimalClient>(plan, clientsOf, trace)
  await settled(sim)
  if (plan.setup !== 'none') await setUp(sim, () => heal(sim))
  for (const { name, dice } of plan.ops) {
    trace?.(`-- ${name}`)
    ops[name](sim, new Chance(dice))
    await settled(sim)
    if (plan.theme === 'decisions' || plan.theme === 'changes') await completeStart(sim)
    if (sim.violation) return sim.violation
  }
  trace?.('-- everything heals')
  await heal(sim)
  if (sim.changes && !sim.violation) {
    trace?.('-- turns are undone')
    lookBack(sim, new Chance(plan.seed))
    await heal(sim)
  }
  if (!sim.violation) checkAtRest(sim)
  if (!sim.violation) await checkSearch(sim)
  if (sim.violation) return sim.violation
  // The host restarts from the disk alone. Nothing may have depended on the state in memory.
  trace?.('-- once more from the disk')
  sim.crash(sim.disk.durable)
  await heal(sim)
  if (!sim.violation) checkAtRest(sim)
  if (!sim.violation) await checkSearch(sim)
  if (sim.violation) return sim.violation
  trace?.('-- everyone leaves for good')
  await leave(sim)
  if (!sim.violation) checkWithoutClients(sim)
  return sim.violation
}

function clientsOf(sim: Sim): readonly MinimalClient[] {
  const { clients, oldClient, older } = sim.plan
  // The clients after the first one speak the older versions of the plan.
  const versionAt = (at: number) => older[at - 1] ?? (at === 1 && oldClient ? '0.9.0' : '1.0.0')
  return Array.from({ length: clients }, (_, at) => new MinimalClient(sim, `c${at}`, versionAt(at)))
}

/** Ends all links, in half of the runs together with the host, and lets the grace period pass. */
async function leave(sim: Sim): Promise<void> {
  for (const { link } of sim.clients) {
    link?.endClient()
    link?.endHost()
  }
  if (sim.plan.seed % 2 === 0) {
    sim.crash(sim.disk.durable)
    restart(sim)
  }
  let rounds = 0
  for (let round = 0; round < maxRounds && (rounds < 3 || sim.disk.waiting > 0); round++) {
    answerAll(sim)
    if (sim.up) rounds++
    sim.tasks.push(...sim.clock.due(sim.up ? graceMs : 0))
    await settled(sim)
  }
}

/** Lets the disk and the folder do everything that they were asked for. */
export function answerAll({ disk, changes, tasks }: Simulation): void {
  disk.resume()
  for (let n = disk.waiting; n > 0; n--) disk.answer()
  disk.flush()
  for (let n = changes?.folder.waiting ?? 0; n > 0; n--) tasks.push(() => changes?.folder.next()())
}

/** Waits until nothing happens by itself. Everything pending is in promises, so one turn of the event loop is enough. */
export async function settled(sim: Simulation): Promise<void> {
  await new Promise(setImmediate)
  for (let task = sim.tasks.shift(); task; task = sim.tasks.shift()) {
    task()
    await new Promise(setImmediate)
  }
}

/** Completes the start of a host quickly: how hosts start is the topic of other plans. */
export async function completeStart(sim: Simulation): Promise<void> {
  for (let round = 0; round < maxRounds && sim.hostRun && !sim.up; round++) {
    answerAll(sim)
    await settled(sim)
  }
}

/** Removes all faults, and runs until nothing is pending. */
async function heal(sim: Sim): Promise<void> {
  sim.disk.full = false
  sim.disk.broken = false
  for (const link of sim.halfOpen) link.endHost()
  sim.halfOpen.clear()
  const chance = new Chance(sim.plan.seed)
  let quiet = 0
  let before = Infinity
  for (let round = 0; quiet < 3; round++) {
    if (round > maxRounds) return sim.fail('I11', `the run does not come to rest: ${pendingWork(sim)}`)
    // Frames may wait in the host, which serves its links in turn. While they do, the number of actions without an
    // outcome falls from round to round, so a falling number counts as work under way.
    const owed = sim.clients.reduce((sum, client) => sum + client.owed, 0)
    const busy = pendingWork(sim) !== '' || owed < before
    before = owed
    quiet = busy ? 0 : quiet + 1
    for (const client of sim.clients) if (!client.link) open(sim, client, chance)
    // Completes the creation of each session that has no chat yet, because a client waits for the answer.
    for (const [uri, { chats }] of sim.invariants.sessions())
      if (chats.length === 0) sim.hostRun?.agents.creations.get(uri)?.()
    answerAll(sim)
    for (const { link } of sim.clients) {
      link?.toHost(100)
      link?.toClient(100)
    }
    sim.tasks.push(...sim.clock.due(busy ? 50 : 1000))
    await settled(sim)
    if (sim.violation) return
  }
}

/** Lets time pass until the search index is fed, and checks it. */
async function checkSearch(sim: Sim): Promise<void> {
  const search = sim.hostRun?.core?.parts.get(searchOf)
  for (let round = 0; search && (round < 3 || search.waiting > 0); round++) {
    if (round > maxRounds) return sim.fail('Q26', `${search.waiting} sessions are never indexed`)
    sim.tasks.push(...sim.clock.due(round === 0 ? 5000 : 100))
    answerAll(sim)
    await settled(sim)
  }
  checkSearchIndex(sim, sim.index)
}

/** Returns everything that is still under way, in words; empty at rest. */
function pendingWork(sim: Sim): string {
  const found = [
    !sim.up && 'the host is down',
    sim.disk.waiting > 0 && 'the disk has pending requests',
    sim.changes && sim.changes.folder.waiting > 0 && 'the folder has pending work',
    ...sim.clients.map((client) => !client.idle && `${client.id} waits for an answer`),
    ...sim.clients.map(
      (client) => client.link && client.link.waiting > 0 && `${client.id} has frames under way`,
    ),
  ]
  return found.filter((text) => typeof text === 'string').join(', ')
}
