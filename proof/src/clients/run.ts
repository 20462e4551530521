import { restart } from '../simulate/ops-of-all.ts'
import type { Plan } from '../simulate/plan.ts'
import { prologue } from '../simulate/prologue.ts'
import { settled } from '../simulate/run.ts'
import { Simulation } from '../simulate/simulation.ts'
import type { Violation } from '../simulate/simulation.ts'
import { Chance } from '../chance.ts'
import { App } from './app.ts'
import { ops } from './ops.ts'
import { judgeAtRest, judgeClosed, unrest } from './verdict.ts'

type Sim = Simulation<App>

/** So many rounds of nothing but time must bring everything to rest: a client waits for half a minute at most. */
const patience = 400

/** Real clients do what a plan says, are left alone until they have healed, and are judged. */
export async function run(plan: Plan, trace?: (line: string) => void): Promise<Violation | undefined> {
  const sim = new Simulation<App>(plan, appsOf, trace)
  const unhandled = (error: unknown) =>
    sim.fail('U1', `a rejection that nobody handles: ${error instanceof Error ? error.stack : String(error)}`)
  process.on('unhandledRejection', unhandled)
  try {
    await life(sim)
  } finally {
    process.off('unhandledRejection', unhandled)
  }
  return sim.violation
}

async function life(sim: Sim): Promise<void> {
  const { plan, trace } = sim
  await settled(sim)
  for (const { client } of sim.clients) client.connect()
  if (plan.prologue !== 'none') await prologue(sim, () => heal(sim))
  for (const { name, dice } of plan.ops) {
    trace(() => `-- ${name}`)
    ops[name](sim, new Chance(dice))
    await settled(sim)
    for (const app of sim.clients) app.judge()
    if (sim.violation) return
  }
  trace(() => '-- everything heals')
  await heal(sim)
  if (!sim.violation) judgeAtRest(sim)
  if (sim.violation) return
  // Everyone comes back once more, to a host that knows nothing but its disk.
  trace(() => '-- once more from the disk')
  sim.crash(sim.disk.durable)
  await heal(sim)
  if (!sim.violation) judgeAtRest(sim, true)
  if (sim.violation) return
  trace(() => '-- everyone closes')
  for (const app of sim.clients) app.close()
  sim.tasks.push(...sim.clock.due(1000))
  await settled(sim)
  judgeClosed(sim)
}

/** Three to five; one of them may speak 0.9, and half of them keep a list of sessions. */
function appsOf(sim: Sim): readonly App[] {
  const { clients, old } = sim.plan
  return Array.from(
    { length: clients + 1 },
    (_, at) => new App(sim, `c${at}`, at === 1 && old ? '0.9.0' : '1.0.0', at % 2 === 0),
  )
}

/** Nobody is told that all is well again: clients find out. */
async function heal(sim: Sim): Promise<void> {
  sim.disk.full = false
  sim.disk.broken = false
  for (const link of sim.late) link.endHost()
  sim.late.clear()
  let quiet = 0
  for (let round = 0; ; round++) {
    const busy = unrest(sim)
    if (round > patience) return sim.fail('I11', `does not come to rest: ${busy}`)
    quiet = busy === '' ? quiet + 1 : 0
    if (quiet > 2) return
    if (!sim.life) restart(sim)
    for (const [uri, { chats }] of sim.laws.sessions())
      if (chats.length === 0) sim.life?.cast.creations.get(uri)?.()
    for (let n = sim.disk.waiting; n > 0; n--) sim.disk.answer()
    sim.disk.flush()
    for (const { link } of sim.clients) {
      link?.toHost(100)
      link?.toClient(100)
    }
    const alone = sim.clients.some((app) => !app.closed && !(app.open && app.wire?.sound))
    // Short steps where nobody waits for a moment to come: clients ask every few seconds whether a link lives, and rest only in between.
    sim.tasks.push(...sim.clock.due(alone || sim.life?.core?.log.diskFull ? 1000 : 50))
    await settled(sim)
    for (const app of sim.clients) app.judge()
    if (sim.violation) return
  }
}
