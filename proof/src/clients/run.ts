import { restart } from '../simulate/ops/shared-ops.ts'
import type { Plan } from '../simulate/plan.ts'
import { setUp } from '../simulate/ops/setup.ts'
import { lookBack } from '../simulate/ops/change-ops.ts'
import { answerAll, completeStart, settled } from '../simulate/run.ts'
import { Simulation } from '../simulate/simulation.ts'
import type { Violation } from '../simulate/simulation.ts'
import { Chance } from '../chance.ts'
import { App } from './app.ts'
import { Neighbours } from './neighbours.ts'
import { ops } from './ops.ts'
import { checkAtRest, checkClosed, pendingWork } from './final-checks.ts'

type Sim = Simulation<App>

/**
 * Number of fault-free rounds within which everything must come to rest. While a client has no link, a round takes
 * one second of simulated time. A client waits at most 30 s before it reconnects.
 */
const maxRounds = 400

/**
 * Executes a plan with the real client library. Then the faults end, and the clients must recover by themselves.
 * Returns the first violation, if there is one.
 */
export async function run(plan: Plan, trace?: (line: string) => void): Promise<Violation | undefined> {
  const sim = new Simulation<App>(plan, appsOf, trace)
  const unhandled = (error: unknown) =>
    sim.fail('U1', `an unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`)
  process.on('unhandledRejection', unhandled)
  try {
    await runPlan(sim, new Neighbours(sim))
  } finally {
    process.off('unhandledRejection', unhandled)
  }
  return sim.violation
}

async function runPlan(sim: Sim, neighbours: Neighbours): Promise<void> {
  const { plan, trace } = sim
  await settled(sim)
  for (const { client } of sim.clients) client.connect()
  if (plan.setup !== 'none') await setUp(sim, () => heal(sim, neighbours))
  for (const { name, dice } of plan.ops) {
    trace(() => `-- ${name}`)
    ops[name](sim, new Chance(dice))
    neighbours.act()
    await settled(sim)
    if (plan.theme === 'changes') await completeStart(sim)
    for (const app of sim.clients) app.check()
    if (sim.violation) return
  }
  trace(() => '-- everything heals')
  await heal(sim, neighbours)
  if (sim.changes && !sim.violation) {
    trace(() => '-- turns are undone')
    lookBack(sim, new Chance(plan.seed))
    await heal(sim, neighbours)
  }
  if (!sim.violation) checkAtRest(sim)
  if (!sim.violation) neighbours.checkAtRest()
  if (sim.violation) return
  // All clients reconnect to a new host, which knows only what is on the disk.
  trace(() => '-- once more from the disk')
  sim.crash(sim.disk.durable)
  await heal(sim, neighbours)
  if (!sim.violation) checkAtRest(sim, true)
  if (!sim.violation) neighbours.checkAtRest()
  if (sim.violation) return
  trace(() => '-- everyone closes')
  neighbours.leave()
  for (const app of sim.clients) app.close()
  sim.tasks.push(...sim.clock.due(1000))
  await settled(sim)
  checkClosed(sim)
}

/** Creates the apps of a plan. One may speak 0.9, and half of them keep a session list. */
function appsOf(sim: Sim): readonly App[] {
  const { clients, oldClient } = sim.plan
  return Array.from(
    { length: clients + 1 },
    (_, at) => new App(sim, `c${at}`, at === 1 && oldClient ? '0.9.0' : '1.0.0', at % 2 === 0),
  )
}

/** Removes all faults without telling the clients, and runs until nothing is pending. */
async function heal(sim: Sim, neighbours: Neighbours): Promise<void> {
  sim.disk.full = false
  sim.disk.broken = false
  for (const link of sim.halfOpen) link.endHost()
  sim.halfOpen.clear()
  let quiet = 0
  for (let round = 0; ; round++) {
    const busy = pendingWork(sim) || neighbours.pendingWork()
    if (round > maxRounds) return sim.fail('I11', `the run does not come to rest: ${busy}`)
    quiet = busy === '' ? quiet + 1 : 0
    if (quiet > 2) return
    if (!sim.hostRun) restart(sim)
    for (const [uri, { chats }] of sim.invariants.sessions())
      if (chats.length === 0) sim.hostRun?.agents.creations.get(uri)?.()
    answerAll(sim)
    for (const { link } of sim.clients) {
      link?.toHost(100)
      link?.toClient(100)
    }
    if (sim.up) neighbours.exchange()
    const waiting = sim.clients.some((app) => !app.closed && !(app.open && app.wire?.healthy))
    // Time moves in long steps only while somebody waits for a timer. Clients ping every few seconds and are at rest
    // only between two pings, which long steps would miss.
    sim.tasks.push(...sim.clock.due(waiting || sim.hostRun?.core?.log.diskFull ? 1000 : 50))
    await settled(sim)
    for (const app of sim.clients) app.check()
    if (sim.violation) return
  }
}
