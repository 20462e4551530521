import { createHash } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import type {
  ChannelCreation,
  Head,
  LoadedChannel,
  RowSlice,
  Sealed,
  Slice,
  Step,
  StoredEnvelope,
} from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'

/** The maximum number of characters of one slice: what one call of `read`, `rows` or `seal` takes. */
const SLICE = 1024 * 1024

/** Older envelopes of a channel that follow each other, as one text that never changes. */
interface Segment {
  readonly last: number
  /** The clients that dispatched one of the envelopes. */
  readonly clients: ReadonlySet<string>
  readonly text: string
}

interface StoredChannel {
  /**
   * The state with which the channel was created, or a later one (a checkpoint) that replaced it when older envelopes
   * were deleted.
   */
  creation: ChannelCreation
  /** Set if older envelopes were deleted: those with sequence numbers up to `creation.seq`. */
  forgotten?: true
  /** Deleted envelopes that are kept here only to recognize them if a client sends its action again. */
  kept: StoredEnvelope[]
  /** The older envelopes, joined into segments. All of them are older than `envelopes`. */
  segments: Segment[]
  envelopes: StoredEnvelope[]
  readonly rows: Map<string, string>
  head?: Head
}

/** The durable content of the store. A step, which is one transaction, is applied as a whole. */
export class Disk {
  upTo = 0
  readonly records = new Map<string, string>()
  readonly blobs = memoryBlobs()
  private readonly channels = new Map<Uri, StoredChannel>()

  /**
   * Throws if a step uses a channel that does not exist, or creates one that exists. Must be called before any step
   * of the flush is applied.
   */
  check(steps: readonly Step[]): void {
    const existing = new Set(this.channels.keys())
    for (const { created, envelopes, rows, heads, dropped } of steps) {
      for (const { channel } of created) {
        if (existing.has(channel)) throw new Error(`${channel} already exists`)
        existing.add(channel)
      }
      for (const { channel } of [...envelopes, ...rows, ...heads])
        if (!existing.has(channel)) throw new Error(`${channel} does not exist`)
      for (const { channel } of dropped) existing.delete(channel)
    }
  }

  apply(step: Step): void {
    for (const creation of step.created)
      this.channels.set(creation.channel, {
        creation,
        kept: [],
        segments: [],
        envelopes: [],
        rows: new Map(),
      })
    for (const envelope of step.envelopes) this.channel(envelope.channel)?.envelopes.push(envelope)
    for (const { channel, id, text } of step.rows)
      if (text === undefined) this.channel(channel)?.rows.delete(id)
      else this.channel(channel)?.rows.set(id, text)
    for (const head of step.heads) Object.assign(this.channel(head.channel) ?? {}, { head })
    for (const { channel } of step.dropped) this.channels.delete(channel)
    this.upTo = Math.max(this.upTo, step.upTo)
  }

  load(channel: Uri, tail = Infinity): LoadedChannel | undefined {
    const stored = this.channel(channel)
    if (!stored) return undefined
    const { creation, head } = stored
    const { seq, state } = head ?? creation
    const envelopes = envelopesOf(stored, seq)
    const all = head ? [...stored.rows] : []
    const rowIds = all.map(([id]) => id)
    const rows = all.slice(Math.max(0, all.length - tail)).map(([, text]) => text)
    return { kind: creation.kind, seq, state, rowIds, rows, fromCreation: !head, envelopes }
  }

  rows(channel: Uri, ids: readonly string[]): RowSlice {
    const rows = this.channel(channel)?.rows
    const found = ids.flatMap((id) => {
      const text = rows?.get(id)
      return text === undefined ? [] : [{ id, text }]
    })
    const end = sliceEnd(found.map(({ text }) => text))
    return { rows: found.slice(0, end), more: end < found.length }
  }

  read(channels: readonly Uri[], after: number, upTo: number): Slice {
    const found = [...new Set(channels)]
      .flatMap((channel) => envelopesOf(this.channel(channel), after))
      .filter(({ seq }) => seq <= upTo)
      .toSorted((a, b) => a.seq - b.seq)
    const end = sliceEnd(found.map(({ action }) => action))
    const forgotten = channels.some((channel) => {
      const stored = this.channel(channel)
      return stored?.forgotten && stored.creation.seq > after
    })
    const gap = forgotten ? { forgotten: true as const } : {}
    return { envelopes: found.slice(0, end), more: end < found.length, ...gap }
  }

  dispatchedBy(clientId: string, after: number): StoredEnvelope[] {
    return [...this.channels.values()]
      .flatMap((stored) => [
        ...stored.kept,
        ...stored.segments.filter(({ clients }) => clients.has(clientId)).flatMap(unsealed),
        ...stored.envelopes,
      ])
      .filter(({ seq, origin }) => seq > after && origin?.clientId === clientId)
      .toSorted((a, b) => a.seq - b.seq)
  }

  seal(channel: Uri, upTo: number, least: number): Sealed {
    const { segments = [], envelopes = [] } = this.channel(channel) ?? {}
    const cold = envelopes.filter(({ seq }) => seq <= upTo)
    const slice = cold.slice(0, sliceEnd(cold.map(({ action }) => action)))
    const last = slice.at(-1)
    if (!last || lengthOf(slice) < least) return { envelopes: 0, more: false }
    const clients = new Set(slice.flatMap(({ origin }) => origin?.clientId ?? []))
    segments.push({ last: last.seq, clients, text: JSON.stringify(slice) })
    envelopes.splice(0, slice.length)
    return { envelopes: slice.length, more: slice.length < cold.length }
  }

  creation(channel: Uri): ChannelCreation | undefined {
    return this.channel(channel)?.creation
  }

  forget({ channel, seq, state }: Head, keys: number): boolean {
    const stored = this.channel(channel)
    if (!stored || stored.creation.seq >= seq) return false
    // A segment that also has envelopes after the checkpoint stays as it is.
    const deleted = [
      ...stored.segments.filter(({ last }) => last <= seq).flatMap(unsealed),
      ...stored.envelopes.filter((envelope) => envelope.seq <= seq),
    ]
    const clients = new Set([...stored.kept, ...deleted].flatMap(({ origin }) => origin?.clientId ?? []))
    const newest = new Set(
      [...clients].flatMap((client) => this.dispatchedBy(client, 0).slice(-keys).map(seqOf)),
    )
    stored.kept = [...stored.kept, ...deleted].filter((envelope) => newest.has(envelope.seq))
    stored.segments = stored.segments.filter(({ last }) => last > seq)
    stored.envelopes = stored.envelopes.filter((envelope) => envelope.seq > seq)
    stored.creation = { ...stored.creation, seq, state }
    stored.forgotten = true
    if (stored.head && stored.head.seq < seq) delete stored.head
    return true
  }

  private channel(uri: Uri): StoredChannel | undefined {
    return this.channels.get(uri)
  }
}

/** Returns the envelopes of a channel after a sequence number, those in segments too. */
function envelopesOf(stored: StoredChannel | undefined, after: number): StoredEnvelope[] {
  if (!stored) return []
  const sealed = stored.segments.filter(({ last }) => last > after).flatMap(unsealed)
  const from = Math.max(after, stored.creation.seq)
  return [...sealed, ...stored.envelopes].filter(({ seq }) => seq > from)
}

/** Returns the envelopes of a segment. The cast is safe: `seal` has written the text. */
const unsealed = ({ text }: Segment) => JSON.parse(text) as StoredEnvelope[]

const seqOf = ({ seq }: StoredEnvelope): number => seq

const lengthOf = (envelopes: readonly StoredEnvelope[]): number =>
  envelopes.reduce((sum, { action }) => sum + action.length, 0)

/** Returns how many of the first texts fit into one slice. A slice has at least one text, however long that is. */
function sliceEnd(texts: readonly string[]): number {
  let size = 0
  const end = texts.findIndex((text, i) => (size += text.length) > SLICE && i > 0)
  return end < 0 ? texts.length : end
}

function memoryBlobs(): Store['blobs'] {
  const sessions = new Map<Uri, Map<string, Uint8Array>>()
  return {
    async put(session, bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex')
      const blobs = sessions.get(session) ?? new Map<string, Uint8Array>()
      sessions.set(session, blobs.set(hash, Uint8Array.from(bytes)))
      return hash
    },
    async get(session, hash) {
      const bytes = sessions.get(session)?.get(hash)
      return bytes && Uint8Array.from(bytes)
    },
    async drop(session) {
      sessions.delete(session)
    },
  }
}
