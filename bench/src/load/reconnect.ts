import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../child.ts'
import { atLeast, atMost, fact, row } from '../figures.ts'
import { initialize, opened, root, titleChange } from '../messages.ts'
import { median } from '../percentiles.ts'
import { serve } from '../serve.ts'
import { mb, ms, ratioOf, together } from '../sides.ts'
import { Wire } from '../wire.ts'

const clients = 1000
const sessions = 250
const rounds = 3
/** Links that clients open at once while the time does not count. */
const atOnce = 50

/**
 * Kills the host of 1,000 clients and starts it again. All clients reconnect at the same moment, each to the root and one of 250
 * sessions, and must get a replay.
 */
export async function reconnectTable(): Promise<boolean> {
  const data = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  const env = { ATRIUM_WITHOUT_TOKEN: '1', ATRIUM_PORT: '0' }
  const bare = await start('bare-child')
  let host = await serve(data, env)
  const at = () => ({ port: Number(new URL(host.url).port) })
  const times = { ours: [] as number[], bare: [] as number[], down: [] as number[] }
  let replays = 0
  let bytes = 0
  for (let round = 0; round < rounds; round++) {
    const seen = await miss(at(), round)
    const killed = performance.now()
    host.child.kill('SIGKILL')
    await host.exit
    host = await serve(data, env)
    times.down.push(performance.now() - killed)
    const { port } = at()
    times.ours.push(
      await together(clients, clients, async (client) => {
        const subscriptions = [root, sessionOf(client)]
        const params = { channel: root, clientId: `${client}`, lastSeenServerSeq: seen, subscriptions }
        const answer = await insist(port, (wire) => wire.ask('reconnect', params))
        bytes += answer.length
        if (answer.includes('"type":"replay"')) replays++
      }),
    )
    times.bare.push(
      await together(clients, clients, () => insist(bare.port, (wire) => initialize(wire, 'any'))),
    )
  }
  host.child.kill('SIGTERM')
  await Promise.all([host.exit, bare.stop()])
  rmSync(data, { recursive: true, force: true })
  fact('kill -9 to listening again', ms(median(times.down), 0))
  fact('replayed', mb(bytes))
  return [
    row(
      '1,000 clients reconnect at once after a kill, to the last replay',
      ms(median(times.ours), 0),
      atMost(3, ratioOf(times.ours, times.bare), 'a bare ws host answers as many'),
    ),
    row('clients that got a replay', `${replays}`, atLeast(1, replays / (clients * rounds), 'all')),
  ].every(Boolean)
}

/** Lets all clients see their sessions, and then miss actions. Returns the number that all have seen. */
async function miss(at: { readonly port: number }, round: number): Promise<number> {
  let seen = 0
  const using = async (clientId: string, task: (wire: Wire) => Promise<unknown>) => {
    const wire = await opened(at, clientId)
    await task(wire)
    wire.close()
  }
  if (round === 0)
    await using('creator', async (wire) => {
      for (let at = 0; at < sessions; at++) await wire.ask('createSession', { channel: sessionOf(at) })
    })
  await together(clients, atOnce, (client) =>
    using(`${client}`, async (wire) => {
      await wire.ask('subscribe', { channel: root })
      const answer = await wire.ask('subscribe', { channel: sessionOf(client) })
      seen = Math.max(seen, Number(/"fromSeq":(\d+)/.exec(answer)?.[1]))
    }),
  )
  await together(sessions, atOnce, (session) =>
    using(`writer-${round}-${session}`, async (wire) => {
      const channel = sessionOf(session)
      await wire.ask('subscribe', { channel })
      await wire.echo(Array.from({ length: 20 }, (_, i) => titleChange(channel, i + 1, `missed ${i}`)))
    }),
  )
  return seen
}

/** Runs a task on a new link, again on another if the host ends it: it refuses links while too many others are in their handshake. */
async function insist<T>(port: number, task: (wire: Wire) => Promise<T>): Promise<T> {
  for (;;)
    try {
      const wire = await Wire.open(port)
      const answer = await task(wire)
      wire.close()
      return answer
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
}

const sessionOf = (client: number) => `ahp-session:/return-${client % sessions}`
