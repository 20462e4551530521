import { Wire, masked } from '../wire.ts'
import { Latencies, Pace } from './pace.ts'

const root = 'ahp-root://'
/** What an action says beside its number: envelopes get as long as they are in the field. */
const words = 'the agent reads a file and writes another one while somebody watches it work, and again '
/** Who has not answered by then is counted as missing. */
const patience = 30_000

export interface Played {
  /** Dispatch to the echo that the dispatcher gets. */
  readonly own: Latencies
  /** Dispatch to the last of the subscribers. */
  readonly last: Latencies
  /** When each was sent, beside when it should have been. */
  readonly late: Latencies
  /** Until everything was answered. */
  readonly took: number
}

/** Sessions with ten subscribers each; the first of them dispatches. */
export class Rooms {
  readonly sessions = 20
  readonly followers = 10
  readonly #rooms: readonly (readonly Wire[])[]
  /** The last clientSeq of every room. */
  #said = 0

  private constructor(rooms: readonly (readonly Wire[])[]) {
    this.#rooms = rooms
  }

  static async open(port: number): Promise<Rooms> {
    const wires: Wire[][] = []
    const rooms = new Rooms(wires)
    for (let room = 0; room < rooms.sessions; room++) {
      const followers: Wire[] = []
      for (let i = 0; i < rooms.followers; i++) followers.push(await entered(port, room, i))
      wires.push(followers)
    }
    return rooms
  }

  async play(times: Float64Array): Promise<Played> {
    const own = new Latencies(times)
    const last = new Latencies(times)
    const late = new Latencies(times)
    const waiting = new Uint8Array(times.length).fill(this.followers)
    const before = this.#said
    const began = performance.now()
    this.#rooms.forEach((followers, room) =>
      followers.forEach((wire, i) => {
        wire.heard = (data, start, end) => {
          const clientSeq = clientSeqIn(data, start, end)
          if (clientSeq === undefined) return
          const index = (clientSeq - before - 1) * this.sessions + room
          const now = performance.now() - began
          if (i === 0) own.answered(index, now)
          const left = (waiting[index] ?? 0) - 1
          waiting[index] = left
          if (left === 0) last.answered(index, now)
        }
      }),
    )
    const pace = new Pace(times)
    while (!pace.done) {
      const now = performance.now() - began
      for (const index of pace.due(now)) {
        late.answered(index, now)
        this.#dispatch(index % this.sessions, before + Math.floor(index / this.sessions) + 1)
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    this.#said += Math.ceil(times.length / this.sessions)
    while (last.missing > 0 && performance.now() - began < (times.at(-1) ?? 0) + patience)
      await new Promise((resolve) => setTimeout(resolve, 1))
    return { own, last, late, took: performance.now() - began }
  }

  #dispatch(room: number, clientSeq: number): void {
    const action = { type: 'session/titleChanged', title: `${words}${clientSeq}` }
    const params = { channel: sessionOf(room), clientSeq, action }
    this.#rooms[room]?.[0]?.write(
      masked(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })),
    )
  }
}

async function entered(port: number, room: number, index: number): Promise<Wire> {
  const wire = await Wire.open(port)
  const clientId = `room-${room}-${index}`
  await wire.ask('initialize', { channel: root, protocolVersions: ['1.0.0'], clientId })
  const channel = sessionOf(room)
  if (index === 0) await wire.ask('createSession', { channel })
  await wire.ask('subscribe', { channel })
  return wire
}

function sessionOf(room: number): string {
  return `ahp-session:/room-${room}`
}

const mark = Buffer.from('"clientSeq":')

/** Read where it stands: a whole parse of twenty thousand frames a second would be the generator's time. */
function clientSeqIn(data: Buffer, start: number, end: number): number | undefined {
  const at = data.indexOf(mark, start)
  if (at < 0 || at >= end) return undefined
  return Number.parseInt(data.toString('latin1', at + mark.length, Math.min(end, at + 30)), 10)
}
