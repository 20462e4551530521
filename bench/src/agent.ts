import { Pipe } from './agent/pipe.ts'
import { Visit } from './agent/visit.ts'
import { start } from './child.ts'
import { median } from './percentiles.ts'
import { check, fact } from './table.ts'

const words = 20_000
const flood = 100_000
const rounds = 7
const sessions = 9

/** An ACP agent in a process of its own, on the real host with its real store, beside the same agent at a bare pipe. */
export async function agentBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = { update, memory, begin }
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  return met
}

/** What an update costs on its way from the agent to a client: read, reduced, stored and told. */
async function update(): Promise<boolean> {
  console.log(
    `\nupdate: a turn of ${words} chunks, stored and told, beside the same chunks parsed at a bare pipe`,
  )
  const host = await start('host-child', [], ['acp'])
  const visit = await Visit.open(host.port)
  const pipe = new Pipe()
  await pipe.open()
  await visit.session('ahp-session:/update', words)
  const times = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    times.bare.push((await pipe.prompt(words)).all)
    times.ours.push((await visit.turn('ahp-session:/update', words)).all)
  }
  pipe.close()
  visit.close()
  await host.stop()
  const [ours, bare] = [median(times.ours), median(times.bare)]
  fact('at a bare pipe', perUpdate(bare))
  fact('on the host', perUpdate(ours))
  return check(
    'an update, beside a bare pipe',
    `${(ours / bare).toFixed(2)}x  goal at most 3x`,
    ours / bare <= 3,
  )
}

/** An agent that says a lot has to wait for the host; the host does not grow with what is said. */
async function memory(): Promise<boolean> {
  console.log(`\nmemory: turns of ${flood} chunks`)
  const host = await start('host-child', [], ['acp'])
  const visit = await Visit.open(host.port)
  await visit.session('ahp-session:/warm', flood)
  const before = await host.memory()
  const rss: number[] = []
  const rates: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    const { all } = await visit.session(`ahp-session:/flood-${turn}`, flood)
    rates.push((flood / all) * 1000)
    visit.leave(`ahp-session:/flood-${turn}`)
    rss.push((await host.memory()).rss)
  }
  visit.close()
  await host.stop()
  fact('chunks a second', median(rates).toFixed(0))
  fact('RSS after one such turn, and after each of three more', [before.rss, ...rss].map(mb).join(', '))
  const growth = (rss.at(-1) ?? 0) / before.rss
  return check('RSS after four, beside one', `${growth.toFixed(2)}x  goal at most 1.25x`, growth <= 1.25)
}

/** From nothing to the first word: in a new session, with an agent that was started or not, beside starting the agent. */
async function begin(): Promise<boolean> {
  console.log('\nbegin: a new session, to its first word')
  const times = { bare: [] as number[], cold: [] as number[], warm: [] as number[] }
  for (let round = 0; round < sessions; round++) {
    const began = performance.now()
    const pipe = new Pipe()
    await pipe.open()
    const opened = performance.now() - began
    times.bare.push(opened + (await pipe.prompt(1)).first)
    pipe.close()
    const host = await start('host-child', [], ['guide', 'acp'])
    const visit = await Visit.open(host.port)
    // What the host has to load and compile first is no agent's cost.
    await visit.session('ahp-session:/first', 1, 'guide')
    await visit.probe()
    times.warm.push((await visit.session('ahp-session:/warm', 1)).first)
    times.cold.push((await visit.session('ahp-session:/cold', 1)).first)
    visit.close()
    await host.stop()
  }
  const [bare, cold, warm] = [median(times.bare), median(times.cold), median(times.warm)]
  fact('starting the agent at a bare pipe, to its first word', `${bare.toFixed(1)} ms`)
  fact('a new session whose agent has to be started', `${cold.toFixed(1)} ms`)
  fact('a new session with a warm agent', `${warm.toFixed(1)} ms`)
  const met = check(
    'an agent that has to be started, beside the bare one',
    `${(cold / bare).toFixed(2)}x  goal at most 1.5x`,
    cold / bare <= 1.5,
  )
  return (
    check('a warm agent, beside it', `${(warm / bare).toFixed(2)}x  goal at most 0.6x`, warm / bare <= 0.6) &&
    met
  )
}

function perUpdate(ms: number): string {
  return `${((ms / words) * 1000).toFixed(1)} us an update`
}

function mb(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`
}
