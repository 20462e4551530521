import { defaultChatUri } from '@atrium/protocol/uri'
import { Chance } from '../chance.ts'
import type { Violation } from '../simulate/simulation.ts'
import { Clock } from '../simulate/world.ts'
import { ClusterClient } from './client.ts'
import { Database } from './database.ts'
import { judge } from './judge.ts'
import type { Cluster } from './judge.ts'
import { SimulatedNode } from './node.ts'

const leaseMs = 10_000
const steps = 150

/**
 * Runs two to four nodes with pauses, kills, cuts and lost answers from a seed. Then everything heals, one node must be the owner, and
 * everything that was confirmed must be there, once. Returns the first violation.
 */
export async function run(
  seed: number,
  trace: (line: string) => void = () => {},
): Promise<{
  readonly violation: Violation | undefined
  readonly counts: { readonly [what: string]: number }
}> {
  const chance = new Chance(seed)
  const clock = new Clock()
  let violation: Violation | undefined
  const fail = (invariant: string, problem: string) => {
    trace(`violation of ${invariant}: ${problem}`)
    violation ??= { invariant, problem }
  }
  const database = new Database(leaseMs, () => clock.elapsed, fail)
  const at = (line: string) => trace(`${clock.elapsed}: ${line}`)
  let made = 0
  const newNode = (): SimulatedNode =>
    new SimulatedNode({
      name: `n${++made}`,
      clock,
      database,
      chance: chance.branch(),
      // Wall clocks may be an hour apart.
      offset: chance.between(-3_600_000, 3_600_000),
      trace: at,
      fail,
    })
  const nodes = Array.from({ length: chance.between(2, 4) }, newNode)
  const clients = Array.from({ length: 2 }, (_, n) => new ClusterClient(`c${n}`))
  const cluster: Cluster = { clock, database, clients, nodes, fail, counts: {} }
  const count = (what: string) => void (cluster.counts[what] = (cluster.counts[what] ?? 0) + 1)

  for (let step = 0; step < steps && !violation; step++) {
    disturb(cluster, chance, { newNode, count, at })
    use(cluster, chance)
    // A short time lets the next fault come while a transaction is open.
    await pass(cluster, chance.between(10, chance.oneIn(3) ? 60 : 1500))
  }
  for (const node of nodes) {
    node.network.cut = false
    node.network.losing = 0
    node.resume()
  }
  at('everything heals')
  for (let ms = 0; ms < 5 * leaseMs && !violation; ms += 500) {
    link(cluster, chance)
    for (const node of nodes) node.endSome(chance)
    await pass(cluster, 500)
  }
  if (!violation) await judge(cluster, (ms) => pass(cluster, ms))
  for (const node of nodes) node.kill()
  return { violation, counts: { ...cluster.counts, epochs: database.row.epoch } }
}

interface Means {
  readonly newNode: () => SimulatedNode
  readonly count: (what: string) => void
  readonly at: (line: string) => void
}

/** Breaks something, or heals it. */
function disturb({ nodes }: Cluster, chance: Chance, { newNode, count, at }: Means): void {
  const place = chance.below(nodes.length)
  const node = nodes[place]
  if (!node) return
  const say = (what: string) => {
    count(what)
    at(`${node.name}: ${what}`)
  }
  const what = chance.below(16)
  if (what === 0 && !node.paused) {
    say('paused')
    node.pause()
  } else if (what <= 2 && node.paused) {
    say('goes on')
    node.resume()
  } else if (what === 3) {
    say(node.network.cut ? 'reaches the database' : 'cut off')
    node.network.cut = !node.network.cut
  } else if (what === 4) {
    say('loses an answer')
    node.network.losing++
  } else if (what === 5) {
    say('killed')
    node.kill()
    nodes[place] = newNode()
  }
}

/** Lets clients connect, create sessions, rename them and start turns. */
function use(cluster: Cluster, chance: Chance): void {
  link(cluster, chance)
  const client = chance.pick(cluster.clients)
  const session = chance.pick([...(client?.created ?? [])])
  const name = chance.next().toString(36)
  const isNew = session === undefined || chance.oneIn(3)
  if (isNew) client?.create(`ahp-session:/${name}`)
  else if (chance.oneIn(3)) client?.dispatch(defaultChatUri(session), started(name))
  else client?.dispatch(session, { type: 'session/titleChanged', title: name })
  for (const node of cluster.nodes) node.endSome(chance)
}

function started(turnId: string): object {
  const message = { text: 'go', origin: { kind: 'user' } }
  return { type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00.000Z', message }
}

/** Connects every client without a link to a node that says that it is the owner. Two nodes may say so for a while. */
function link({ clients, nodes }: Cluster, chance: Chance): void {
  for (const client of clients) {
    const owner = chance.pick(nodes.filter(({ node, paused }) => node.role === 'owner' && !paused))
    if (owner && (!client.linked || chance.oneIn(10))) client.connect(owner)
  }
}

/** Lets time pass in small parts. After each one, no process of an earlier epoch may run. */
async function pass({ clock, database, nodes, fail }: Cluster, ms: number): Promise<void> {
  await idle()
  for (let left = ms; left > 0; left -= 10) {
    const due = clock.due(Math.min(10, left))
    if (due.length === 0) continue
    for (const task of due) task()
    await idle()
    const { epoch } = database.row
    for (const node of nodes)
      for (const effect of node.effects)
        if (effect < epoch) fail('L43', `an agent of epoch ${effect} runs at ${node.name} in epoch ${epoch}`)
  }
}

/** Waits until no promise is left to be settled: nothing here waits for anything but the simulated clock. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
