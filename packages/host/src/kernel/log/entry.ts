import type { Action, Origin, Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import type { StoredEnvelope } from '../../ports/log.ts'

/** A receiver of entries in the order of their numbers: a connection, or a part of the host. */
export interface Listener {
  deliver(entry: Entry): void
  /** Sends a notification that carries no action. */
  notify(method: string, params: object): void
  /** Whether the receiver has not read a large part of what it was sent. */
  readonly slow?: boolean
  /** Resolves when the receiver has read everything, or when the connection has ended. */
  drained?(): Promise<void>
  /** Whether the receiver must get every action separately, never several merged into one. */
  readonly wantsEach?: boolean
  /** The number of oldest rows of a subscribed channel that the receiver may lack. */
  missingRows?(channel: Uri): number
  /**
   * Called when older rows are sent to the receiver, or when all rows are removed. `older`: the number of rows that the
   * receiver then lacks.
   */
  rowsSent?(channel: Uri, older: number): void
}

/** The committed states of a channel before and after an entry. */
export interface EntryStates {
  readonly before: object
  readonly after: object
}

/** The data of an entry, without the members that are made from the data. */
type EntryParts = Omit<Entry, 'frame' | 'withAction'>

/** An action with its sequence number, on its way to the listeners. */
export class Entry {
  readonly seq: number
  /** The last sequence number of the entry. It is above `seq` if the action takes several numbers. */
  readonly last: number
  readonly channel: Uri
  /** The channel URI as JSON. */
  readonly label: string
  /** The kind of the channel. */
  readonly kind: KindName
  readonly action: Action
  /** The action as JSON, made once for the store and for all listeners. */
  readonly text: string
  readonly origin: Origin | undefined
  /** The reason of a refusal. A refused action is delivered to its sender and is not reduced. */
  readonly reason: string | undefined
  /** The only receiver of the entry. Set for a refusal, for an action that changed nothing, and for a page of history. */
  readonly only: Listener | undefined
  /** The dispatched action as the client sent it, if the client's protocol version has another form of the action. */
  readonly sent: Action | undefined
  /**
   * The states of the channel before and after the entry. Some actions can be translated to an older protocol version
   * only with these states. They are set at delivery, for channel kinds that have such actions.
   */
  states: EntryStates | undefined
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
    this.sent = parts.sent
    this.states = parts.states
  }

  /** Returns an entry of the same number with another action, for the merge of several entries into one. */
  withAction(action: Action, text: string): Entry {
    const { seq, last, channel, label, kind, origin, reason, only, sent, states } = this
    return new Entry({ seq, last, channel, label, kind, action, text, origin, reason, only, sent, states })
  }

  /** The notification as bytes, made once for all receivers. */
  get frame(): Uint8Array {
    this.#frame ??= actionFrame(envelopeText(this.label, this))
    return this.#frame
  }
}

/** The part of an entry's data that does not come from the channel. */
export type EntryContent = Pick<Entry, 'seq' | 'last' | 'action' | 'text'> &
  Partial<Pick<Entry, 'origin' | 'reason' | 'only' | 'sent'>>

interface EntryChannel {
  readonly uri: Uri
  readonly label: string
  readonly kindName: KindName
}

/** Makes an entry of a channel. Every member is written out, because a spread is measurably slower here. */
export function entryIn({ uri: channel, label, kindName: kind }: EntryChannel, content: EntryContent): Entry {
  const { seq, last, action, text, origin, reason, only, sent } = content
  const states = undefined
  return new Entry({ seq, last, channel, label, kind, action, text, origin, reason, only, sent, states })
}

/**
 * Converts the entry of a dispatched action to the form in which the store returns actions. Returns an empty list for
 * an entry of the host. The principal is left empty, because no caller needs it.
 */
export function asStored({ seq, channel, text, origin }: Entry): readonly StoredEnvelope[] {
  return origin ? [{ seq, channel, action: text, origin: { ...origin, principal: '' } }] : []
}

const encoder = new TextEncoder()

/** Puts the JSON of an envelope into the frame of an `action` notification. */
export function actionFrame(envelope: string): Uint8Array {
  return encoder.encode(`{"jsonrpc":"2.0","method":"action","params":${envelope}}`)
}

export interface EnvelopeParts {
  readonly seq: number
  readonly text: string
  readonly origin?: Origin | undefined
  readonly reason?: string | undefined
}

/** Makes the JSON of an envelope. The action is already JSON and is not parsed again. `label`: the channel URI as JSON. */
export function envelopeText(label: string, { seq, text, origin, reason }: EnvelopeParts): string {
  const by = origin ? `,"origin":{"clientId":${quoted(origin.clientId)},"clientSeq":${origin.clientSeq}}` : ''
  const why = reason === undefined ? '' : `,"rejectionReason":${JSON.stringify(reason)}`
  return `{"channel":${label},"action":${text},"serverSeq":${seq}${by}${why}}`
}

/**
 * The client id that was last converted to JSON. It is remembered, because a replay contains the same few ids thousands of
 * times.
 */
let lastQuoted = { text: '', quoted: '""' }

function quoted(text: string): string {
  if (lastQuoted.text !== text) lastQuoted = { text, quoted: JSON.stringify(text) }
  return lastQuoted.quoted
}

/**
 * Internal actions for the creation and the removal of a channel. In the queue they keep every entry behind them waiting
 * until they are durable. They are delivered to nobody.
 */
export const creation: Action = { type: '@created' }
export const removal: Action = { type: '@removed' }

/** Parses an action of the log. Its shape is known: only checked actions are appended. */
export function storedAction(text: string): Action {
  return JSON.parse(text)
}
