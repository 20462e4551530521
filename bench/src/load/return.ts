import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Action } from '@atrium/protocol/channel'
import { start } from '../child.ts'
import { Client } from '../client.ts'
import type { Place, Return } from '../client.ts'
import { median } from '../percentiles.ts'
import { serve } from '../served.ts'
import type { Served } from '../served.ts'
import { check, fact, row } from '../table.ts'

const clients = 1000
const sessions = 250
/** What happens in each session while some are away. */
const missed = 20
const rounds = 3
const root = 'ahp-root://'

/** The host is killed under a thousand clients, started again, and all of them come back in the same moment. */
export async function returnTable(): Promise<boolean> {
  console.log(
    `\nreturn: ${clients} clients, each with the root and one of ${sessions} sessions; ${rounds} times`,
  )
  const data = mkdtempSync(join(tmpdir(), 'atrium-return-'))
  const bare = await start('bare-child')
  const bareTimes: number[] = []
  let host = await serve(data)
  const crowd = await entered(host)
  const results: Storm[] = []
  for (let round = 0; round < rounds; round++) {
    bareTimes.push(await bareAccepts(bare.port))
    const next = await storm(host, data, crowd)
    host = next.host
    results.push(next)
  }
  const differing = await compared(crowd)
  await Promise.all(crowd.map((client) => client.drop()))
  host.child.kill('SIGTERM')
  await Promise.all([host.exit, bare.stop()])
  rmSync(data, { recursive: true, force: true })
  return print(results, bareTimes, differing)
}

interface Storm {
  readonly host: Served
  /** Kill to the first answer that is possible. */
  readonly started: number
  /** From there until everybody is in sync. */
  readonly synced: number
  readonly answers: readonly Return[]
  /** Links that were cut before they were let in, and tried again. */
  readonly again: number
}

async function entered(host: Place): Promise<readonly Client[]> {
  const crowd = Array.from({ length: clients }, (_, i) => new Client(`return-${i}`))
  await inTurns(crowd, async (client, i) => {
    await client.initialize(host, [root])
    if (i < sessions) await client.ask('createSession', { channel: sessionOf(i) })
  })
  await inTurns(crowd, (client, i) => client.subscribe(sessionOf(i)))
  return crowd
}

async function storm(before: Served, data: string, crowd: readonly Client[]): Promise<Storm> {
  const away = crowd.filter((_, i) => i >= sessions && i % 4 === 3)
  await Promise.all(away.map((client) => client.drop()))
  // Acknowledged while some were away, and on its way while the host is killed.
  for (let i = 0; i < missed; i++)
    await Promise.all(
      crowd.slice(0, sessions).map((client, at) => client.dispatch(sessionOf(at), present(client))),
    )
  const inFlight = crowd
    .slice(0, sessions)
    .map((client, at) => client.dispatch(sessionOf(at), present(client)))
  const killed = performance.now()
  before.child.kill('SIGKILL')
  await before.exit
  await Promise.all(crowd.map((client) => client.ended))
  const host = await serve(data)
  const ready = performance.now()
  let again = 0
  const answers = await Promise.all(
    crowd.map(async (client) => {
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

/** How long a bare host takes to accept as many links, and nothing else. */
async function bareAccepts(port: number): Promise<number> {
  const place = { url: `ws://127.0.0.1:${port}/`, token: '' }
  const crowd = Array.from({ length: clients }, (_, i) => new Client(`bare-${i}`))
  const began = performance.now()
  await Promise.all(crowd.map((client) => client.connect(place)))
  const took = performance.now() - began
  await Promise.all(crowd.map((client) => client.drop()))
  return took
}

/** What is wrong with what the clients have folded. */
async function compared(crowd: readonly Client[]): Promise<readonly string[]> {
  await inTurns(crowd, async (client, i) => {
    await client.compare(sessionOf(i))
    await client.compare(root)
  })
  return crowd.flatMap(({ problems }) => problems)
}

function print(
  results: readonly Storm[],
  bareTimes: readonly number[],
  problems: readonly string[],
): boolean {
  const synced = median(results.map((result) => result.synced))
  const beside = median(results.map((result, i) => result.synced / (bareTimes[i] ?? NaN)))
  const all = results.flatMap(({ answers }) => answers)
  const replays = all.filter((answer) => answer === 'replay').length
  fact('kill -9 to listening again', ms(median(results.map(({ started }) => started))))
  fact('kill -9 to all in sync', ms(median(results.map((one) => one.started + one.synced))))
  fact('a bare host accepts as many links in', ms(median(bareTimes)))
  fact('links cut at the door and tried again', results.map(({ again }) => again).join(', '))
  for (const problem of problems.slice(0, 5)) fact('problem', problem)
  return [
    row('listening to all in sync', ms(synced), beside, 3, 'at most'),
    check('replays, snapshots', `${replays}, ${all.length - replays}`, replays === all.length),
    check('folded states that differ from the host', `${problems.length}`, problems.length === 0),
  ].every(Boolean)
}

/** A few at a time, where it is not the crowd that is measured. */
async function inTurns(
  crowd: readonly Client[],
  each: (client: Client, index: number) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < crowd.length; at += 50)
    await Promise.all(crowd.slice(at, at + 50).map((client, i) => each(client, at + i)))
}

let changes = 0
/** Shows in the session alone: a new title would be told to everybody who follows the root. */
function present({ clientId }: Client): Action {
  return {
    type: 'session/activeClientSet',
    activeClient: { clientId, displayName: `change ${++changes}`, tools: [] },
  } as Action
}

const sessionOf = (index: number) => `ahp-session:/return-${index % sessions}`
const ms = (value: number) => `${value.toFixed(0)} ms`
