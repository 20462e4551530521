import { Pipe } from './agent/pipe.ts'
import { AgentClient } from './agent/agent-client.ts'
import { start } from './child.ts'
import { median } from './percentiles.ts'
import { check, fact } from './table.ts'

const words = 20_000
const flood = 100_000
const rounds = 7
const sessions = 9

/** Measures an ACP agent in its own process behind the real host and store, relative to the same agent at a bare pipe. */
export async function agentBench(wanted: readonly string[]): Promise<boolean> {
  const tables: { readonly [name: string]: () => Promise<boolean> } = { update, memory, begin }
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  return met
}

/**
 * Measures what one update costs on its way from the agent to a client. The host reads, reduces, stores and delivers
 * each update.
 */
async function update(): Promise<boolean> {
  console.log(
    `\nupdate: a turn of ${words} chunks, stored and delivered, relative to the same chunks parsed at a bare pipe`,
  )
  const host = await start('host-child', [], ['acp'])
  const client = await AgentClient.open(host.port)
  const pipe = new Pipe()
  await pipe.open()
  await client.session('ahp-session:/update', words)
  const times = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    times.bare.push((await pipe.prompt(words)).all)
    times.ours.push((await client.turn('ahp-session:/update', words)).all)
  }
  pipe.close()
  client.close()
  await host.stop()
  const [ours, bare] = [median(times.ours), median(times.bare)]
  fact('at a bare pipe', perUpdate(bare))
  fact('on the host', perUpdate(ours))
  return check(
    'an update, relative to a bare pipe',
    `${(ours / bare).toFixed(2)}x  goal at most 3x`,
    ours / bare <= 3,
  )
}

/** Checks that the memory of the host does not grow with the output of an agent: backpressure must make a fast agent wait. */
async function memory(): Promise<boolean> {
  console.log(`\nmemory: turns of ${flood} chunks`)
  const host = await start('host-child', [], ['acp'])
  const client = await AgentClient.open(host.port)
  await client.session('ahp-session:/warm', flood)
  const before = await host.memory()
  const rss: number[] = []
  const rates: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    const { all } = await client.session(`ahp-session:/flood-${turn}`, flood)
    rates.push((flood / all) * 1000)
    client.unsubscribe(`ahp-session:/flood-${turn}`)
    rss.push((await host.memory()).rss)
  }
  client.close()
  await host.stop()
  fact('chunks a second', median(rates).toFixed(0))
  fact('RSS after one turn, and after each of three more', [before.rss, ...rss].map(mb).join(', '))
  const growth = (rss.at(-1) ?? 0) / before.rss
  return check(
    'RSS after four turns, relative to one',
    `${growth.toFixed(2)}x  goal at most 1.25x`,
    growth <= 1.25,
  )
}

/**
 * Measures the time from creating a session to its first text, once with a running and once with a stopped agent. The
 * times are compared with the start of the agent alone.
 */
async function begin(): Promise<boolean> {
  console.log('\nbegin: a new session, to its first text')
  const times = { bare: [] as number[], cold: [] as number[], warm: [] as number[] }
  for (let round = 0; round < sessions; round++) {
    const began = performance.now()
    const pipe = new Pipe()
    await pipe.open()
    const opened = performance.now() - began
    times.bare.push(opened + (await pipe.prompt(1)).first)
    pipe.close()
    const host = await start('host-child', [], ['guide', 'acp'])
    const client = await AgentClient.open(host.port)
    // Warm-up: code that the host loads and compiles once is not part of the cost of an agent.
    await client.session('ahp-session:/first', 1, 'guide')
    await client.probe()
    times.warm.push((await client.session('ahp-session:/warm', 1)).first)
    times.cold.push((await client.session('ahp-session:/cold', 1)).first)
    client.close()
    await host.stop()
  }
  const [bare, cold, warm] = [median(times.bare), median(times.cold), median(times.warm)]
  fact('start of the agent at a bare pipe, to its first text', `${bare.toFixed(1)} ms`)
  fact('a new session with a stopped agent', `${cold.toFixed(1)} ms`)
  fact('a new session with a running agent', `${warm.toFixed(1)} ms`)
  const met = check(
    'a stopped agent, relative to the bare pipe',
    `${(cold / bare).toFixed(2)}x  goal at most 1.5x`,
    cold / bare <= 1.5,
  )
  return (
    check(
      'a running agent, relative to the bare pipe',
      `${(warm / bare).toFixed(2)}x  goal at most 0.6x`,
      warm / bare <= 0.6,
    ) && met
  )
}

function perUpdate(ms: number): string {
  return `${((ms / words) * 1000).toFixed(1)} µs per update`
}

function mb(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`
}
