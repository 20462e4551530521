import type { Message } from '../message.ts'
import type { Operation } from './register.ts'
import { contradiction } from './register.ts'

/** A frame that a client has sent (`out`) or received (`in`), or the end of a link (`shut`), in the order of one clock. */
export interface Frame {
  readonly at: number
  readonly client: string
  readonly way: 'out' | 'in' | 'shut'
  readonly text?: string
}

/**
 * A second reading of what clients were told, by the frames alone. The title of each session and the draft of each chat are
 * registers, and the numbers of actions and snapshots must agree with real time. The disk lost nothing between these frames.
 */
export function secondReading(frames: readonly Frame[]): readonly string[] {
  const reading = new Reading()
  for (const frame of frames) reading.add(frame)
  return reading.problems()
}

/** An action of a client. Only the titles and drafts among them have a value. */
interface Write {
  readonly channel: string
  readonly value: string | undefined
  readonly from: number
  to: number
  refused: boolean
}

/** The part of all messages that is read. Everything else is not looked at. */
interface Read {
  readonly channel?: string
  readonly clientSeq?: number
  readonly action?: Valued & { readonly type?: string }
  readonly serverSeq?: number
  readonly rejectionReason?: string
  readonly origin?: { readonly clientId?: string; readonly clientSeq?: number }
  readonly snapshot?: Snapshot
  readonly snapshots?: readonly Snapshot[]
  readonly actions?: readonly Read[]
  readonly items?: readonly (Valued & { readonly resource?: string })[]
}

interface Valued {
  readonly title?: unknown
  readonly draft?: { readonly text?: unknown }
}

interface Snapshot {
  readonly resource?: string
  readonly fromSeq?: number
  readonly state?: Valued
}

class Reading {
  readonly #writes = new Map<string, Write>()
  readonly #reads: { readonly channel: string; readonly operation: Operation }[] = []
  readonly #asked = new Map<string, number>()
  /** The highest number that any client knew, after each frame that raised it. */
  readonly #known: { readonly at: number; readonly seq: number }[] = []
  readonly #problems: string[] = []

  add({ at, client, way, text = '{}' }: Frame): void {
    if (way === 'shut') {
      for (const key of this.#asked.keys()) if (key.startsWith(`${client} `)) this.#asked.delete(key)
      return
    }
    // The cast is safe, because every member may be missing.
    const { id, method, params, result } = JSON.parse(text) as Message & { params?: Read; result?: Read }
    if (way === 'out' && method === 'dispatchAction') this.#sent(at, client, params ?? {})
    else if (way === 'out' && id !== undefined && reads.has(method ?? ''))
      this.#asked.set(`${client} ${id}`, at)
    else if (way === 'in' && method === 'action') this.#told(at, params ?? {})
    else if (way === 'in' && id !== undefined && result) this.#answered(at, client, id, result)
  }

  problems(): readonly string[] {
    const written = [...this.#writes.values()].filter(({ value, refused }) => value !== undefined && !refused)
    const channels = [...new Set(written.map(({ channel }) => channel))]
    const found = channels.flatMap((channel) => {
      const own = written.filter((write) => write.channel === channel)
      const isOnce = (text: string) => own.filter(({ value }) => value === text).length === 1
      const writes = own.map(({ value = '', from, to }): Operation => ({ kind: 'write', value, from, to }))
      const reads = this.#reads.filter((read) => read.channel === channel).map(({ operation }) => operation)
      const problem = contradiction([...writes, ...reads].filter(({ value }) => isOnce(value)))
      return problem === undefined ? [] : `${channel}: ${problem}`
    })
    return [...this.#problems, ...found]
  }

  #sent(at: number, client: string, { channel, clientSeq, action }: Read): void {
    const key = `${client} ${clientSeq}`
    if (channel === undefined || !clientSeq || this.#writes.has(key)) return
    const value = registers.has(action?.type ?? '') ? valueIn(channel, action) : undefined
    this.#writes.set(key, { channel, value, from: at, to: Infinity, refused: false })
  }

  /** Whoever is told of an action knows that it has taken effect. */
  #told(at: number, { serverSeq = 0, rejectionReason, origin }: Read): void {
    const write = this.#writes.get(`${origin?.clientId} ${origin?.clientSeq}`)
    if (write && rejectionReason !== undefined) write.refused = true
    else if (write && write.to === Infinity) {
      write.to = at
      const before = this.#knownAt(write.from)
      if (serverSeq <= before)
        this.#problems.push(`${serverSeq} was given to an action that was sent after ${before} was known`)
    }
    this.#knows(at, serverSeq)
  }

  #answered(at: number, client: string, id: number, result: Read): void {
    const from = this.#asked.get(`${client} ${id}`)
    this.#asked.delete(`${client} ${id}`)
    if (from === undefined) return
    const read = (channel: string, valued: Valued | undefined) => {
      const value = valueIn(channel, valued)
      if (value !== undefined) this.#reads.push({ channel, operation: { kind: 'read', value, from, to: at } })
    }
    for (const item of result.items ?? []) read(item.resource ?? '', item)
    const alone = result.snapshot ? [result.snapshot] : []
    for (const { resource = '', fromSeq = 0, state } of [...(result.snapshots ?? []), ...alone]) {
      read(resource, state)
      const before = this.#knownAt(from)
      if (fromSeq < before)
        this.#problems.push(`a snapshot of ${resource} at ${fromSeq} was asked for after ${before} was known`)
      this.#knows(at, fromSeq)
    }
    for (const envelope of result.actions ?? []) this.#told(at, envelope)
  }

  #knows(at: number, seq: number): void {
    if (seq > (this.#known.at(-1)?.seq ?? 0)) this.#known.push({ at, seq })
  }

  #knownAt(time: number): number {
    return this.#known.findLast(({ at }) => at < time)?.seq ?? 0
  }
}

/** The requests whose answers show the present. */
const reads: ReadonlySet<string> = new Set(['initialize', 'reconnect', 'subscribe', 'listSessions'])
const registers: ReadonlySet<string> = new Set(['session/titleChanged', 'chat/draftChanged'])

function valueIn(channel: string, valued: Valued | undefined): string | undefined {
  const value = channel.startsWith('ahp-chat:') ? valued?.draft?.text : valued?.title
  return typeof value === 'string' ? value : undefined
}
