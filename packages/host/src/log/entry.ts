import type { Action, Origin, Uri } from '@atrium/protocol/channel'
import type { StoredEnvelope } from '../ports/log.ts'

/** Somebody who is told what happens, in number order. */
export interface Listener {
  deliver(entry: Entry): void
  /** A message that is no action. */
  notify(method: string, params: object): void
  /** It has much unread. */
  readonly slow?: boolean
  /** Resolves when it has read everything, or has gone. */
  drained?(): Promise<void>
  /** It has asked not to be told several things in one. */
  readonly wantsEach?: boolean
  /** So many of the oldest rows of a channel that it follows it may lack. */
  missingRows?(channel: Uri): number
  /** It is given rows of a channel, or all are taken away: so many are older than those that it has then. */
  rowsSent?(channel: Uri, older: number): void
}

/** What an entry says; its frame is made from that. */
type EntryParts = Omit<Entry, 'frame' | 'withAction'>

/** An action on its way: numbered, reduced, waiting to be told. */
export class Entry {
  readonly seq: number
  /** The last of its numbers; more than `seq` where its stride is. */
  readonly last: number
  readonly channel: Uri
  /** The channel as JSON, and its kind. */
  readonly label: string
  readonly kind: string
  readonly action: Action
  /** The action's JSON, made once for the store and for everyone. */
  readonly text: string
  readonly origin: Origin | undefined
  /** Why it was refused. A refusal is told and not reduced. */
  readonly reason: string | undefined
  /** Told to this one alone: a refusal, or an action that changed nothing. */
  readonly only: Listener | undefined
  #frame: Uint8Array | undefined

  constructor(parts: EntryParts) {
    this.seq = parts.seq
    this.last = parts.last
    this.channel = parts.channel
    this.label = parts.label
    this.kind = parts.kind
    this.action = parts.action
    this.text = parts.text
    this.origin = parts.origin
    this.reason = parts.reason
    this.only = parts.only
  }

  /** The same place in the order with other words: several that were merged into one. */
  withAction(action: Action, text: string): Entry {
    const { seq, last, channel, label, kind, origin, reason, only } = this
    return new Entry({ seq, last, channel, label, kind, action, text, origin, reason, only })
  }

  /** The notification that tells it: the same bytes for every receiver. */
  get frame(): Uint8Array {
    this.#frame ??= actionFrame(envelopeText(this.label, this))
    return this.#frame
  }
}

/** What is said in a channel. */
export type EntryContent = Pick<Entry, 'seq' | 'last' | 'action' | 'text'> &
  Partial<Pick<Entry, 'origin' | 'reason' | 'only'>>

interface ChannelName {
  readonly uri: Uri
  readonly label: string
  readonly kind: { readonly name: string }
}

/** Every part by its name: there are so many of these that a spread would cost more than the rest. */
export function entryIn(
  { uri: channel, label, kind: { name: kind } }: ChannelName,
  said: EntryContent,
): Entry {
  const { seq, last, action, text, origin, reason, only } = said
  return new Entry({ seq, last, channel, label, kind, action, text, origin, reason, only })
}

/** What a client dispatched, as the store would give it back: as whom it did, nobody needs to know here. */
export function asStored({ seq, channel, text, origin }: Entry): readonly StoredEnvelope[] {
  return origin ? [{ seq, channel, action: text, origin: { ...origin, principal: '' } }] : []
}

const encoder = new TextEncoder()

/** The notification around an envelope's JSON. */
export function actionFrame(envelope: string): Uint8Array {
  return encoder.encode(`{"jsonrpc":"2.0","method":"action","params":${envelope}}`)
}

export interface EnvelopeParts {
  readonly seq: number
  readonly text: string
  readonly origin?: Origin | undefined
  readonly reason?: string | undefined
}

/** An envelope's JSON around an action's JSON: nothing is parsed and made again. `label` is the channel as JSON. */
export function envelopeText(label: string, { seq, text, origin, reason }: EnvelopeParts): string {
  const by = origin ? `,"origin":{"clientId":${quoted(origin.clientId)},"clientSeq":${origin.clientSeq}}` : ''
  const why = reason === undefined ? '' : `,"rejectionReason":${JSON.stringify(reason)}`
  return `{"channel":${label},"action":${text},"serverSeq":${seq}${by}${why}}`
}

/** A replay names the same few clients thousands of times. */
let lastQuoted = { text: '', quoted: '""' }

function quoted(text: string): string {
  if (lastQuoted.text !== text) lastQuoted = { text, quoted: JSON.stringify(text) }
  return lastQuoted.quoted
}
