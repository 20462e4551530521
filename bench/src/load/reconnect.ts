import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../child.ts'
import { fact, row } from '../figures.ts'
import { initialize, opened, root, titleChange } from '../messages.ts'
import { median } from '../percentiles.ts'
import { serve } from '../serve.ts'
import { mb, ms, ratioOf } from '../sides.ts'
import { Wire } from '../wire.ts'

const clients = 1000
const sessions = 250
const rounds = 3

/**
 * Kills the host of 1,000 clients and starts it again. All clients reconnect at the same moment, each to the root and one of 250
 * sessions, and must get a replay.
 */
export async function reconnectTable(): Promise<boolean> {
  const data = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  const env = { ATRIUM_WITHOUT_TOKEN: '1', ATRIUM_PORT: '0' }
  const bare = await start('bare-child')
  let host = await serve(data, [], env)
  const at = () => ({ port: Number(new URL(host.url).port) })
  const times = { ours: [] as number[], bare: [] as number[], down: [] as number[] }
  let replays = 0
  let bytes = 0
  for (let round = 0; round < rounds; round++) {
    const seen = await miss(at(), round)
    const killed = performance.now()
    host.child.kill('SIGKILL')
    await host.exit
    host = await serve(data, [], env)
    times.down.push(performance.now() - killed)
    const { port } = at()
    times.ours.push(
      await together(async (client) => {
        const wire = await insist(port)
        const subscriptions = [root, sessionOf(client)]
        const params = { channel: root, clientId: `${client}`, lastSeenServerSeq: seen, subscriptions }
        const answer = await wire.ask('reconnect', params)
        bytes += answer.length
        if (answer.includes('"type":"replay"')) replays++
        wire.close()
      }),
    )
    times.bare.push(await together(async () => (await initialize(await insist(bare.port), 'any')).close()))
  }
  host.child.kill('SIGTERM')
  await Promise.all([host.exit, bare.stop()])
  rmSync(data, { recursive: true, force: true })
  fact('kill -9 to listening again', ms(median(times.down), 0))
  fact('replayed', mb(bytes))
  return [
    row({
      what: '1,000 clients reconnect at once after a kill, to the last replay',
      figure: ms(median(times.ours), 0),
      ratio: ratioOf(times.ours, times.bare),
      to: 'a bare ws host answers as many',
      goal: { atMost: 3 },
    }),
    row({
      what: 'clients that got a replay',
      figure: `${replays}`,
      ratio: replays / (clients * rounds),
      to: 'all',
      goal: { atLeast: 1 },
    }),
  ].every(Boolean)
}

/** Lets all clients see their sessions, and then miss actions. Returns the number that all have seen. */
async function miss(at: { readonly port: number }, round: number): Promise<number> {
  let seen = 0
  for (let client = 0; client < clients; client++) {
    const wire = await opened(at, `${client}`)
    const channel = sessionOf(client)
    if (round === 0 && client < sessions) await wire.ask('createSession', { channel })
    await wire.ask('subscribe', { channel: root })
    const answer = await wire.ask('subscribe', { channel })
    seen = Math.max(seen, Number(/"fromSeq":(\d+)/.exec(answer)?.[1]))
    wire.close()
  }
  for (let session = 0; session < sessions; session++) {
    const wire = await opened(at, `writer-${round}-${session}`)
    await wire.ask('subscribe', { channel: sessionOf(session) })
    await wire.echo(
      Array.from({ length: 20 }, (_, i) => titleChange(sessionOf(session), i + 1, `missed ${i}`)),
    )
    wire.close()
  }
  return seen
}

/** Connects, again and again: a host refuses links while too many others are in their handshake. */
async function insist(port: number): Promise<Wire> {
  for (;;)
    try {
      return await Wire.open(port)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
}

/** Runs a task for all clients at once. Returns the milliseconds until the last has ended. */
async function together(task: (client: number) => Promise<void>): Promise<number> {
  const began = performance.now()
  await Promise.all(Array.from({ length: clients }, (_, client) => task(client)))
  return performance.now() - began
}

const sessionOf = (client: number) => `ahp-session:/return-${client % sessions}`
