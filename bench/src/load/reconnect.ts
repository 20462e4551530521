import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Action } from '@atrium/protocol/channel'
import { start } from '../child.ts'
import { Client } from '../client.ts'
import type { Endpoint, ReconnectType } from '../client.ts'
import { median } from '../percentiles.ts'
import { serve } from '../serve.ts'
import type { ServeProcess } from '../serve.ts'
import { check, fact, row } from '../table.ts'

const clients = 1000
const sessions = 250
/** The number of actions in each session that the disconnected clients miss. */
const missed = 20
const rounds = 3
const root = 'ahp-root://'

/** Kills the host of 1,000 clients and starts it again. All clients reconnect at the same moment. */
export async function reconnectTable(): Promise<boolean> {
  console.log(
    `\nreturn: ${clients} clients reconnect after a crash, each to the root and one of ${sessions} sessions; ${rounds} rounds`,
  )
  const data = mkdtempSync(join(tmpdir(), 'atrium-return-'))
  const bare = await start('bare-child')
  const bareTimes: number[] = []
  let host = await serve(data)
  const all = await connectAll(host)
  const results: ReconnectStorm[] = []
  for (let round = 0; round < rounds; round++) {
    bareTimes.push(await bareAccepts(bare.port))
    const next = await crashAndReconnect(host, data, all)
    host = next.host
    results.push(next)
  }
  const differing = await compareAll(all)
  await Promise.all(all.map((client) => client.drop()))
  host.child.kill('SIGTERM')
  await Promise.all([host.exit, bare.stop()])
  rmSync(data, { recursive: true, force: true })
  return print(results, bareTimes, differing)
}

interface ReconnectStorm {
  readonly host: ServeProcess
  /** Milliseconds from the kill until the host listens again. */
  readonly started: number
  /** Milliseconds from the moment when the host listens again until all clients are in sync. */
  readonly synced: number
  readonly answers: readonly ReconnectType[]
  /** The number of connections that failed before the handshake and were tried again. */
  readonly again: number
}

async function connectAll(host: Endpoint): Promise<readonly Client[]> {
  const all = Array.from({ length: clients }, (_, i) => new Client(`return-${i}`))
  await inBatches(all, async (client, i) => {
    await client.initialize(host, [root])
    if (i < sessions) await client.ask('createSession', { channel: sessionOf(i) })
  })
  await inBatches(all, (client, i) => client.subscribe(sessionOf(i)))
  return all
}

async function crashAndReconnect(
  before: ServeProcess,
  data: string,
  all: readonly Client[],
): Promise<ReconnectStorm> {
  const disconnected = all.filter((_, i) => i >= sessions && i % 4 === 3)
  await Promise.all(disconnected.map((client) => client.drop()))
  // Some actions are acknowledged while clients are disconnected; others are in flight when the host is killed.
  for (let i = 0; i < missed; i++)
    await Promise.all(
      all.slice(0, sessions).map((client, at) => client.dispatch(sessionOf(at), activeClientSet(client))),
    )
  const inFlight = all
    .slice(0, sessions)
    .map((client, at) => client.dispatch(sessionOf(at), activeClientSet(client)))
  const killed = performance.now()
  before.child.kill('SIGKILL')
  await before.exit
  await Promise.all(all.map((client) => client.ended))
  const host = await serve(data)
  const ready = performance.now()
  let again = 0
  const answers = await Promise.all(
    all.map(async (client) => {
      for (;;)
        try {
          return await client.reconnect(host)
        } catch {
          again++
        }
    }),
  )
  await Promise.all(inFlight)
  return { host, started: ready - killed, synced: performance.now() - ready, answers, again }
}

/** Returns the milliseconds in which a bare host accepts the same number of connections. */
async function bareAccepts(port: number): Promise<number> {
  const endpoint = { url: `ws://127.0.0.1:${port}/`, token: '' }
  const all = Array.from({ length: clients }, (_, i) => new Client(`bare-${i}`))
  const began = performance.now()
  await Promise.all(all.map((client) => client.connect(endpoint)))
  const took = performance.now() - began
  await Promise.all(all.map((client) => client.drop()))
  return took
}

/** Compares the replicas of all clients with the host. Returns the problems. */
async function compareAll(all: readonly Client[]): Promise<readonly string[]> {
  await inBatches(all, async (client, i) => {
    await client.compare(sessionOf(i))
    await client.compare(root)
  })
  return all.flatMap(({ problems }) => problems)
}

function print(
  results: readonly ReconnectStorm[],
  bareTimes: readonly number[],
  problems: readonly string[],
): boolean {
  const synced = median(results.map((result) => result.synced))
  const relative = median(results.map((result, i) => result.synced / (bareTimes[i] ?? NaN)))
  const answers = results.flatMap((result) => result.answers)
  const replays = answers.filter((answer) => answer === 'replay').length
  fact('kill -9 to listening again', ms(median(results.map(({ started }) => started))))
  fact('kill -9 to all in sync', ms(median(results.map((result) => result.started + result.synced))))
  fact('a bare host accepts as many connections in', ms(median(bareTimes)))
  fact('connections refused and tried again', results.map(({ again }) => again).join(', '))
  for (const problem of problems.slice(0, 5)) fact('problem', problem)
  return [
    row('listening to all in sync', ms(synced), relative, { atMost: 3 }),
    check('replays, snapshots', `${replays}, ${answers.length - replays}`, replays === answers.length),
    check('replicas that differ from the host', `${problems.length}`, problems.length === 0),
  ].every(Boolean)
}

/** Runs a step for all clients, 50 at a time. Such steps are not measured. */
async function inBatches(
  all: readonly Client[],
  each: (client: Client, index: number) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < all.length; at += 50)
    await Promise.all(all.slice(at, at + 50).map((client, i) => each(client, at + i)))
}

let changes = 0
/** An action that changes only the session. A new title would also be sent to every subscriber of the root. */
function activeClientSet({ clientId }: Client): Action {
  return {
    type: 'session/activeClientSet',
    activeClient: { clientId, displayName: `change ${++changes}`, tools: [] },
  } as Action
}

const sessionOf = (index: number) => `ahp-session:/return-${index % sessions}`
const ms = (value: number) => `${value.toFixed(0)} ms`
