import type { Child } from '../child.ts'
import { initialize } from '../turn/chat.ts'
import { Wire } from '../wire.ts'

const missed = 5000
const session = 'ahp-session:/returns'
/** The URI by which clients at AHP 0.1 name the measured session. */
const alias = 'guide:/returns'

interface Returns {
  /** Milliseconds that each reconnect took: `older` at AHP 0.1, `native` at 1.0. */
  readonly older: readonly number[]
  readonly native: readonly number[]
  readonly missed: number
}

/**
 * Measures how long a client at AHP 0.1 and one at 1.0 take to reconnect, after the title of their session changed
 * 5,000 times.
 */
export async function reconnectTimes({ port }: Child, maker: Wire, rounds: number): Promise<Returns> {
  await maker.ask('createSession', { channel: session, provider: 'guide' })
  const older: number[] = []
  const native: number[] = []
  for (let round = 0; round < rounds; round++) {
    const seen = await openBoth(port, round)
    for (let n = 0; n < missed; n++) {
      const action = { type: 'session/titleChanged', title: `round ${round}, title ${n}` }
      const params = { channel: session, clientSeq: round * missed + n + 1, action }
      maker.send({ jsonrpc: '2.0', method: 'dispatchAction', params })
      // A request from time to time keeps the rate below the limit of a link.
      if (n % 500 === 499) await maker.ask('listSessions', { channel: 'ahp-root://', limit: 1 })
    }
    older.push(await timeOf(port, { ...seen, clientId: `old-${round}`, subscriptions: [alias] }))
    native.push(
      await timeOf(port, {
        ...seen,
        channel: 'ahp-root://',
        clientId: `new-${round}`,
        subscriptions: [session],
      }),
    )
  }
  return { older, native, missed }
}

/**
 * Connects both clients, subscribes them, and disconnects them. Returns the higher of the sequence numbers of their
 * snapshots.
 */
async function openBoth(port: number, round: number): Promise<{ readonly lastSeenServerSeq: number }> {
  const old = await initialize(await Wire.open(port), `old-${round}`, '0.1.0')
  const first = await old.ask('subscribe', { resource: alias })
  const present = await initialize(await Wire.open(port), `new-${round}`)
  const second = await present.ask('subscribe', { channel: session })
  old.close()
  present.close()
  return { lastSeenServerSeq: Math.max(seqIn(first), seqIn(second)) }
}

async function timeOf(port: number, params: object): Promise<number> {
  const wire = await Wire.open(port)
  const sent = performance.now()
  const answer = await wire.ask('reconnect', params)
  const took = performance.now() - sent
  wire.close()
  if (!answer.includes('"type":"replay"')) throw new Error(`no replay: ${answer.slice(0, 300)}`)
  return took
}

function seqIn(answer: string): number {
  return Number(/"fromSeq":(\d+)/.exec(answer)?.[1] ?? 0)
}
