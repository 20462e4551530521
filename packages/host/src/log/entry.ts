import type { Action, Origin, Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import type { StoredEnvelope } from '../ports/log.ts'

/** A receiver of entries in the order of their numbers: a connection, or a part of the host. */
export interface Listener {
  deliver(entry: Entry): void
  /** Sends a notification that carries no action. */
  notify(method: string, params: object): void
  /** Whether much of what was sent is unread. */
  readonly slow?: boolean
  /** Resolves when everything is read, or the connection has ended. */
  drained?(): Promise<void>
  /** Whether every action must arrive by itself, never several merged into one. */
  readonly wantsEach?: boolean
  /** The number of oldest rows of a subscribed channel that the receiver may lack. */
  missingRows?(channel: Uri): number
  /** Called when older rows are sent, or all rows are removed. `older`: the number of rows that the receiver then lacks. */
  rowsSent?(channel: Uri, older: number): void
}

/** The data of an entry, without the frame that is made from it. */
type EntryParts = Omit<Entry, 'frame' | 'withAction'>

/** An action with its number, on its way to the listeners. */
export class Entry {
  readonly seq: number
  /** The last of its numbers. Above `seq` for an action with a stride. */
  readonly last: number
  readonly channel: Uri
  /** The channel URI as JSON. */
  readonly label: string
  /** The kind of the channel. */
  readonly kind: KindName
  readonly action: Action
  /** The action as JSON, made once for the store and all listeners. */
  readonly text: string
  readonly origin: Origin | undefined
  /** The reason of a refusal. A refused action is delivered and not reduced. */
  readonly reason: string | undefined
  /** The only receiver of a refusal, of an action that changed nothing, or of a page of history. */
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

  /** Returns an entry of the same number with another action: the merge of several entries. */
  withAction(action: Action, text: string): Entry {
    const { seq, last, channel, label, kind, origin, reason, only } = this
    return new Entry({ seq, last, channel, label, kind, action, text, origin, reason, only })
  }

  /** The notification as bytes, made once for all receivers. */
  get frame(): Uint8Array {
    this.#frame ??= actionFrame(envelopeText(this.label, this))
    return this.#frame
  }
}

/** The data of an entry that does not come from its channel. */
export type EntryContent = Pick<Entry, 'seq' | 'last' | 'action' | 'text'> &
  Partial<Pick<Entry, 'origin' | 'reason' | 'only'>>

interface EntryChannel {
  readonly uri: Uri
  readonly label: string
  readonly kindName: KindName
}

/** Makes the entry of a channel. Every member is named, because a spread is measurably slower here. */
export function entryIn({ uri: channel, label, kindName: kind }: EntryChannel, content: EntryContent): Entry {
  const { seq, last, action, text, origin, reason, only } = content
  return new Entry({ seq, last, channel, label, kind, action, text, origin, reason, only })
}

/** A dispatched entry in the form in which the store returns it; none for the host's own. No caller needs the principal. */
export function asStored({ seq, channel, text, origin }: Entry): readonly StoredEnvelope[] {
  return origin ? [{ seq, channel, action: text, origin: { ...origin, principal: '' } }] : []
}

const encoder = new TextEncoder()

/** The `action` notification around the JSON of an envelope. */
export function actionFrame(envelope: string): Uint8Array {
  return encoder.encode(`{"jsonrpc":"2.0","method":"action","params":${envelope}}`)
}

export interface EnvelopeParts {
  readonly seq: number
  readonly text: string
  readonly origin?: Origin | undefined
  readonly reason?: string | undefined
}

/** The JSON of an envelope around the JSON of its action, which is not parsed again. `label`: the channel URI as JSON. */
export function envelopeText(label: string, { seq, text, origin, reason }: EnvelopeParts): string {
  const by = origin ? `,"origin":{"clientId":${quoted(origin.clientId)},"clientSeq":${origin.clientSeq}}` : ''
  const why = reason === undefined ? '' : `,"rejectionReason":${JSON.stringify(reason)}`
  return `{"channel":${label},"action":${text},"serverSeq":${seq}${by}${why}}`
}

/** The client id that was quoted last: a replay contains the same few ids thousands of times. */
let lastQuoted = { text: '', quoted: '""' }

function quoted(text: string): string {
  if (lastQuoted.text !== text) lastQuoted = { text, quoted: JSON.stringify(text) }
  return lastQuoted.quoted
}

/**
 * Internal actions for the creation and the removal of a channel. They stand in the queue, so that no entry behind them is
 * delivered before they are durable. They are delivered to nobody.
 */
export const creation: Action = { type: '@created' }
export const removal: Action = { type: '@removed' }
