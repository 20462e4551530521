import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ChannelKind, Derived } from '@atrium/protocol/kind'
import { rootUri } from '@atrium/protocol/uri'
import type { Run, StoredChannel } from '../history.ts'
import type { Witness } from './event.ts'

/** A channel's whole past as the disk has it: every envelope, and the state after each. */
export class Past {
  readonly channel: StoredChannel
  readonly kind: ChannelKind
  readonly #bySeq: ReadonlyMap<number, Envelope>
  readonly #numbers: readonly number[]
  readonly #states: readonly unknown[]
  readonly #from: number

  constructor(channel: StoredChannel, kind: ChannelKind, base: { seq: number; state: unknown }) {
    this.channel = channel
    this.kind = kind
    this.#from = base.seq
    this.#bySeq = new Map(channel.envelopes.map((envelope) => [envelope.serverSeq, envelope]))
    const later = channel.envelopes.filter(({ serverSeq }) => serverSeq > base.seq)
    this.#numbers = later.map(({ serverSeq }) => serverSeq)
    let state = base.state
    this.#states = [state, ...later.map(({ action }) => (state = kind.reduce(state, action)))]
  }

  at(seq: number): Envelope | undefined {
    return this.#bySeq.get(seq)
  }

  /** The numbers above one and up to another. */
  between(after: number, upTo: number): readonly number[] {
    const all = this.channel.envelopes.map(({ serverSeq }) => serverSeq)
    return all.filter((seq) => seq > after && seq <= upTo)
  }

  /** The fold up to a number; nothing where it lies before all that is known. */
  stateAt(seq: number): unknown {
    if (seq < this.#from) return undefined
    let count = this.#numbers.length
    while (count > 0 && (this.#numbers[count - 1] ?? 0) > seq) count--
    return this.#states[count]
  }

  /** Every envelope that is folded, with the state before it. */
  *steps(): Iterable<{ readonly envelope: Envelope; readonly before: unknown }> {
    for (const [at, seq] of this.#numbers.entries()) {
      const envelope = this.#bySeq.get(seq)
      if (envelope) yield { envelope, before: this.#states[at] }
    }
  }

  get last(): unknown {
    return this.#states.at(-1)
  }

  /** Whether an action said at this number may have changed nothing: then it need not be kept. */
  idle(seq: number, action: Action): boolean {
    const before = this.stateAt(seq - 1)
    // Nobody saw it so early, and a head hides its birth.
    if (before === undefined) return true
    return canonical(this.kind.reduce(before, action)) === canonical(before)
  }
}

/** The channels that are there at the end. Where a birth is hidden behind a head, the oldest snapshot stands for it. */
export function pastsOf({ stored }: Run, witnesses: readonly Witness[]): ReadonlyMap<Uri, Past> {
  const oldest = oldestSnapshots(witnesses)
  const pasts = stored.channels.flatMap((channel) => {
    const kind = kindNamed(channel.kind)
    const base = channel.birth ?? oldest.get(channel.uri)
    return kind && base ? [[channel.uri, new Past(channel, kind, base)] as const] : []
  })
  return new Map(pasts)
}

function oldestSnapshots(witnesses: readonly Witness[]): ReadonlyMap<Uri, { seq: number; state: unknown }> {
  const oldest = new Map<Uri, { seq: number; state: unknown }>()
  for (const event of witnesses.flatMap(({ events }) => events)) {
    if (event.what !== 'follows' || !event.snapshot) continue
    const { state, fromSeq: seq } = event.snapshot
    if (seq < (oldest.get(event.channel)?.seq ?? Infinity)) oldest.set(event.channel, { seq, state })
  }
  return oldest
}

/** A guess from the form that new URIs have, for channels of which nothing is left. */
export function kindOf(uri: Uri): ChannelKind | undefined {
  return kindNamed(uri === rootUri ? 'root' : (/^ahp-([a-z]+):/.exec(uri)?.[1] ?? ''))
}

/** Two that say the same have the same text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/** A state as it is compared: without what no action can change. */
export function comparable({ derived }: Pick<ChannelKind, 'derived'>, state: unknown): string {
  return canonical(without(state, derived as Derived<Record<string, unknown>>))
}

/**
 * Whether two states say the same, but for the text of a turn that goes on: of that a crash may take what was told and not
 * yet safe (I8).
 */
export function alike(kind: ChannelKind, a: unknown, b: unknown): boolean {
  if (comparable(kind, a) === comparable(kind, b)) return true
  return kind.name === 'chat' && comparable(kind, textless(a)) === comparable(kind, textless(b))
}

function textless(state: unknown): unknown {
  const { activeTurn, ...rest } = state as ChatState
  const parts = activeTurn?.responseParts.map((part) => ({ ...part, content: '' }))
  return activeTurn ? { ...rest, activeTurn: { ...activeTurn, responseParts: parts } } : rest
}

/** Stored, and told before that is safe: runs of it may also be told as one. */
export function isText({ channel, action }: Envelope): boolean {
  return kindOf(channel)?.classes.get(action.type) === 'relaxed'
}

function without(state: unknown, derived: Derived<Record<string, unknown>>): unknown {
  if (typeof state !== 'object' || state === null) return state
  return Object.fromEntries(
    Object.entries(state).flatMap(([key, value]: [string, unknown]) => {
      const part = derived[key]
      if (part === true) return []
      if (typeof part === 'number') return [[key, (Number(value) & ~part) >>> 0]]
      return [[key, part ? without(value, part) : value]]
    }),
  )
}
