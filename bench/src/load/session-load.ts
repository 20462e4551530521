import { opened, titleChange } from '../messages.ts'
import { masked } from '../wire.ts'
import type { Wire } from '../wire.ts'
import { Latencies, Schedule } from './schedule.ts'

/** Text that makes the envelopes about as long as those of a real session. */
const words = 'the agent reads a file and writes another one while somebody watches it work, and again '
/** The time to wait for late envelopes. An envelope that comes later counts as missing. */
const timeoutMs = 30_000

export interface LoadResult {
  /** Latency from the scheduled dispatch to the echo at the dispatcher. */
  readonly own: Latencies
  /** Latency from the scheduled dispatch to the envelope at the last subscriber. */
  readonly last: Latencies
  /** Delay from the scheduled time to the actual dispatch. */
  readonly late: Latencies
  /** Milliseconds until every subscriber had received every envelope. */
  readonly took: number
}

/** Twenty sessions with ten subscribers each. The first subscriber of each session dispatches. */
export class SessionLoad {
  readonly sessions = 20
  readonly subscribers = 10
  readonly #subscribers: readonly (readonly Wire[])[]
  /** The clientSeq of the last dispatch. It is the same in every session. */
  #lastClientSeq = 0

  private constructor(wires: readonly (readonly Wire[])[]) {
    this.#subscribers = wires
  }

  static async open(port: number): Promise<SessionLoad> {
    const wires: Wire[][] = []
    const load = new SessionLoad(wires)
    for (let session = 0; session < load.sessions; session++) {
      const subscribers: Wire[] = []
      for (let i = 0; i < load.subscribers; i++) subscribers.push(await connectSubscriber(port, session, i))
      wires.push(subscribers)
    }
    return load
  }

  async run(times: Float64Array): Promise<LoadResult> {
    const own = new Latencies(times)
    const last = new Latencies(times)
    const late = new Latencies(times)
    const outstanding = new Uint8Array(times.length).fill(this.subscribers)
    const before = this.#lastClientSeq
    const began = performance.now()
    this.#subscribers.forEach((subscribers, session) =>
      subscribers.forEach((wire, i) => {
        wire.onFrame = (data, start, end) => {
          const clientSeq = clientSeqIn(data, start, end)
          if (clientSeq === undefined) return
          const index = (clientSeq - before - 1) * this.sessions + session
          const now = performance.now() - began
          if (i === 0) own.answered(index, now)
          const left = (outstanding[index] ?? 0) - 1
          outstanding[index] = left
          if (left === 0) last.answered(index, now)
        }
      }),
    )
    const schedule = new Schedule(times)
    while (!schedule.done) {
      const now = performance.now() - began
      for (const index of schedule.due(now)) {
        late.answered(index, now)
        this.#dispatch(index % this.sessions, before + Math.floor(index / this.sessions) + 1)
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    this.#lastClientSeq += Math.ceil(times.length / this.sessions)
    while (last.missing > 0 && performance.now() - began < (times.at(-1) ?? 0) + timeoutMs)
      await new Promise((resolve) => setTimeout(resolve, 1))
    return { own, last, late, took: performance.now() - began }
  }

  #dispatch(session: number, clientSeq: number): void {
    const message = titleChange(sessionOf(session), clientSeq, `${words}${clientSeq}`)
    this.#subscribers[session]?.[0]?.write(masked(message))
  }
}

async function connectSubscriber(port: number, session: number, index: number): Promise<Wire> {
  const wire = await opened({ port }, `session-${session}-${index}`)
  const channel = sessionOf(session)
  if (index === 0) await wire.ask('createSession', { channel })
  await wire.ask('subscribe', { channel })
  return wire
}

function sessionOf(session: number): string {
  return `ahp-session:/load-${session}`
}

const clientSeqKey = Buffer.from('"clientSeq":')

/** Finds the clientSeq in a frame without parsing the frame. Parsing 20,000 frames a second would slow the generator. */
function clientSeqIn(data: Buffer, start: number, end: number): number | undefined {
  const at = data.indexOf(clientSeqKey, start)
  if (at < 0 || at >= end) return undefined
  return Number.parseInt(data.toString('latin1', at + clientSeqKey.length, Math.min(end, at + 30)), 10)
}
