import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { defaultChatUri } from '@atrium/protocol/uri'
import { start } from '../child.ts'
import { atMost, parts, row } from '../figures.ts'
import { fill } from '../filled-folder.ts'
import { burst, fanOut } from '../host.ts'
import { opened } from '../messages.ts'
import { median } from '../percentiles.ts'
import { plot } from '../plot.ts'
import { command } from '../serve.ts'
import { inTurns, kib, ms, ratioOf } from '../sides.ts'

/** Measures a start of the command, and how its cost and others grow with sessions, clients, turns and history. */
export async function growthBench(wanted: readonly string[]): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  try {
    return await parts(wanted, {
      start: () => startTable(folder),
      sessions: () => sessionsTable(join(folder, 'sessions')),
      clients: clientsTable,
      turns: () => turnsTable(join(folder, 'turns')),
      history: historyTable,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startTable(folder: string): Promise<boolean> {
  const bareHost = fileURLToPath(new URL('./bare-start-child.js', import.meta.url))
  const times = await inTurns(
    { rounds: 15 },
    { ours: () => firstAnswer(atrium(join(folder, 'start'))), bare: () => firstAnswer([bareHost]) },
  )
  return row(
    'atrium serve, from its start to its first response',
    ms(median(times.ours), 0),
    atMost(1.5, ratioOf(times.ours, times.bare), 'a bare ws host'),
  )
}

/** The time of a start and the memory, with a growing list of sessions. */
async function sessionsTable(folder: string): Promise<boolean> {
  const sizes = [1, 100, 1000, 5000, 20_000]
  const pathOf = (sessions: number) => join(folder, `${sessions}`)
  for (const sessions of sizes) await fill(pathOf(sessions), { sessions, turns: 1 })
  const met = await curve(
    sizes,
    {
      name: 'sessions',
      title: 'A start, by the sessions of the host',
      unit: 'ms',
      what: 'a start with 20,000 sessions',
      to: 'with one',
      most: 2,
    },
    (sessions) => firstAnswer(atrium(pathOf(sessions))),
  )
  const heap = async (sessions: number) => {
    const host = await start('host-child', `data=${pathOf(sessions)}`)
    const wire = await opened(host, 'reader')
    await wire.ask('listSessions', { channel: 'ahp-root://', limit: 1 })
    const memory = await host.memory()
    wire.close()
    await host.stop()
    return memory.heap
  }
  const { many, one } = await inTurns({ rounds: 5 }, { many: () => heap(20_000), one: () => heap(1) })
  const each = (median(many) - median(one)) / 20_000
  return row('heap of a session that is not loaded', kib(each), atMost(1, each / 4096, '4 KiB')) && met
}

async function clientsTable(): Promise<boolean> {
  const host = await start('host-child')
  await (await opened(host, 'maker')).ask('createSession', { channel: 'ahp-session:/bench' })
  const met = await curve(
    [1, 10, 50, 200],
    {
      name: 'clients',
      title: 'A delivery, by the subscribers of the session',
      unit: 'µs',
      what: 'a delivery to each of 200 clients',
      to: 'to one',
      most: 1,
    },
    async (clients, round) => fanOut(host, clients, `${round}-${clients}`).then((time) => time / clients),
  )
  await host.stop()
  return met
}

/** The time to open the newest 50 turns of a chat, each time on a new host. */
async function turnsTable(folder: string): Promise<boolean> {
  const sizes = [50, 200, 1000, 5000]
  for (const turns of sizes) await fill(join(folder, `${turns}`), { sessions: 2, turns })
  return curve(
    sizes,
    {
      name: 'turns',
      title: 'Opening a chat that is not loaded, by its turns',
      unit: 'ms',
      what: 'opening a chat of 5,000 turns',
      to: 'one of 50',
      most: 2,
    },
    async (turns) => {
      const host = await start('host-child', `data=${join(folder, `${turns}`)}`)
      const wire = await opened(host, 'reader')
      const open = (copy: number) =>
        wire.ask('subscribe', { channel: defaultChatUri(`ahp-session:/bench-${copy}`), view: { turns: 50 } })
      // Warm-up with the other chat: the host loads some code only once.
      await open(1)
      const began = performance.now()
      const answer = await open(0)
      const time = performance.now() - began
      const found = answer.split('"startedAt"').length - 1
      if (found !== 50) throw new Error(`expected 50 turns, got ${found}: ${answer.slice(0, 300)}`)
      wire.close()
      await host.stop()
      return time
    },
  )
}

/** The time of an append, to a log that grows. */
async function historyTable(): Promise<boolean> {
  const host = await start('host-child')
  await (await opened(host, 'maker')).ask('createSession', { channel: 'ahp-session:/bench' })
  const sizes = [10_000, 50_000, 200_000]
  let actions = 0
  let last = 0
  const append = async () => {
    last = await burst(host, `${actions}`)
    actions += 5000
    return last / 5
  }
  const points: (readonly [number, number])[] = []
  await append()
  for (const size of sizes) {
    while (actions < size - 25_000) await append()
    const times: number[] = []
    while (times.length < 5) times.push(await append())
    points.push([size, Math.min(...times)])
  }
  await host.stop()
  plot({ name: 'history', title: 'An append, by the actions of its session', unit: 'µs', points })
  return compare(points, {
    what: 'an append to 200,000 actions',
    to: 'to 10,000',
    most: 1.5,
    unit: 'µs',
  })
}

interface Curve {
  readonly what: string
  readonly to: string
  /** The largest ratio that meets the goal. */
  readonly most: number
  readonly name: string
  readonly title: string
  readonly unit: string
}

/** Measures a cost at all sizes in turns, and plots it. The goal is for the largest size, relative to the smallest. */
async function curve(
  sizes: readonly number[],
  { name, title, ...figure }: Curve,
  cost: (size: number, round: number) => Promise<number>,
): Promise<boolean> {
  const sides = Object.fromEntries(
    sizes.map((size) => [`${size}`, (round: number) => cost(size, round)] as const),
  )
  const found = await inTurns({ rounds: 5 }, sides)
  const points = sizes.map((size) => [size, median(found[`${size}`] ?? [])] as const)
  plot({ name, title, unit: figure.unit, points })
  return compare(points, figure)
}

function compare(
  points: readonly (readonly [number, number])[],
  { what, to, unit, most }: Omit<Curve, 'name' | 'title'>,
): boolean {
  const [first, last] = [points[0]?.[1] ?? NaN, points.at(-1)?.[1] ?? NaN]
  return row(what, `${last.toFixed(1)} ${unit}`, atMost(most, last / first, to))
}

const flags = ['--json', '--port', '0', '--without-connection-token', '--log-level', 'error']

const atrium = (data: string) => [command, 'serve', ...flags, '--data', data]

/** Starts a host, sends it one request, and ends it. Returns the milliseconds from the start to the response. */
async function firstAnswer(args: readonly string[]): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    const { url } = JSON.parse(line) as { readonly url: string }
    const wire = await opened({ port: Number(new URL(url).port) }, 'bench')
    const time = performance.now() - began
    wire.close()
    return time
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}
