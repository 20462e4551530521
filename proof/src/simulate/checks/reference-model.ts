import type { Head, Step } from '@atrium/host/ports/log'
import { equal } from '@atrium/host/log/equal'
import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { rootUri } from '@atrium/protocol/uri'
import { changeable } from '../../judge/rules.ts'
import type { Transaction } from '../disk.ts'

/** A logged action as the store received it, and the state after it. */
export interface ModelEntry {
  readonly seq: number
  readonly action: Action
  readonly text: string
  readonly origin: { readonly clientId: string; readonly clientSeq: number } | undefined
  state: unknown
  /**
   * The index of the transaction that contains the action; undefined for an ephemeral action, which is never stored.
   */
  readonly at: number | undefined
  /**
   * Set if the state is a stored one (a head) and not a result of the reducer, because it includes ephemeral actions
   * that a crash has lost.
   */
  readonly fromHead?: true
}

export interface ChannelHistory {
  readonly kind: ChannelKind
  readonly created: { readonly seq: number; readonly state: unknown; readonly at: number }
  readonly entries: ModelEntry[]
  dropped?: { readonly seq: number; readonly at: number }
}

/**
 * The reference model: every channel, reduced from the steps (transactions) that the store received. It shares no
 * code with the log.
 */
export class ReferenceModel {
  readonly channels = new Map<Uri, ChannelHistory>()
  readonly #fail: (problem: string) => void
  #rebuilding = false

  constructor(fail: (problem: string) => void) {
    this.#fail = fail
  }

  /** Adds a step that the store received as the transaction with the index `at`. */
  append(step: Step, at: number): void {
    for (const { seq, channel, kind: name, state } of step.created) {
      const kind = kindNamed(name)
      if (kind)
        this.channels.set(channel, {
          kind,
          created: { seq, state: JSON.parse(state) as unknown, at },
          entries: [],
        })
    }
    for (const { seq, channel, action: text, origin } of step.envelopes)
      this.#insert(channel, { seq, action: JSON.parse(text) as Action, text, origin, at, state: undefined })
    for (const { channel, seq, state } of step.heads)
      this.#head(channel, seq, JSON.parse(state) as object, at)
    for (const { channel, seq } of step.dropped) {
      const history = this.channels.get(channel)
      if (history) history.dropped = { seq, at }
    }
  }

  addEphemeral(channel: Uri, seq: number, action: Action, origin: ModelEntry['origin']): void {
    const text = JSON.stringify(action)
    this.#insert(channel, { seq, action, text, origin, at: undefined, state: undefined })
  }

  /** Checks that the state that takes the place of old actions is the fold of all stored ones. */
  checkpoint({ channel, seq, state }: Head): void {
    const history = this.channels.get(channel)
    if (!history) return
    const stored = history.entries.filter(
      (entry) => entry.at !== undefined && !entry.fromHead && entry.seq <= seq,
    )
    const fold = stored.reduce(
      (before, { action }) => history.kind.reduce(before, action),
      history.created.state,
    )
    if (!equal(JSON.parse(state), fold)) this.#fail(`the checkpoint of ${channel} at ${seq} is not its fold`)
  }

  /** Rebuilds the model after a crash from the transactions on the disk. */
  rebuild(transactions: readonly Transaction[]): void {
    this.channels.clear()
    this.#rebuilding = true
    for (const [at, { step }] of transactions.entries()) if (step) this.append(step, at)
    this.#rebuilding = false
  }

  /** Returns the history of a channel; undefined if the channel does not exist, or was dropped. */
  live(uri: Uri): ChannelHistory | undefined {
    const history = this.channels.get(uri)
    return history?.dropped ? undefined : history
  }

  /** The channels that exist and whose URIs have this prefix. The prefix of chats or sessions finds chats or sessions alone. */
  liveUris(prefix: string): readonly Uri[] {
    const kind = kindsByPrefix.get(prefix)
    return [...this.channels].flatMap(([uri, history]) => {
      const isWanted = uri.startsWith(prefix) && (kind === undefined || history.kind.name === kind)
      return isWanted && !history.dropped ? [uri] : []
    })
  }

  stateAt(uri: Uri, seq: number): unknown {
    const history = this.channels.get(uri)
    if (!history || seq < history.created.seq) return undefined
    return history.entries.findLast((entry) => entry.seq <= seq)?.state ?? history.created.state
  }

  /** Returns the newest state of a chat, or its state at a number. */
  chat(uri: Uri, seq = Infinity): ChatState | undefined {
    return this.#stateOf('chat', uri, seq) as ChatState | undefined
  }

  session(uri: Uri, seq = Infinity): SessionState | undefined {
    return this.#stateOf('session', uri, seq) as SessionState | undefined
  }

  terminal(uri: Uri): TerminalState | undefined {
    return this.#stateOf('terminal', uri, Infinity) as TerminalState | undefined
  }

  root(seq = Infinity): RootState | undefined {
    return this.#stateOf('root', rootUri, seq) as RootState | undefined
  }

  entry(uri: Uri, seq: number): ModelEntry | undefined {
    return this.channels.get(uri)?.entries.findLast((entry) => entry.seq === seq && !entry.fromHead)
  }

  /**
   * Returns the state of a channel, or undefined if the channel is of another kind. This makes the casts of the
   * callers safe.
   */
  #stateOf(kind: string, uri: Uri, seq: number): unknown {
    return this.channels.get(uri)?.kind.name === kind ? this.stateAt(uri, seq) : undefined
  }

  /**
   * Checks that a stored state (a head) equals the state of the model. A head holds the number of rows instead of the
   * rows, which are the finished turns of a chat.
   */
  #head(channel: Uri, seq: number, head: object, at: number): void {
    const history = this.channels.get(channel)
    if (!history) return
    const { kind } = history
    const state = this.stateAt(channel, seq) as Record<string, readonly unknown[]>
    const shown = kind.rows === undefined ? state : { ...state, [kind.rows]: state[kind.rows]?.length }
    if (equal(head, shown)) return
    // A head may include ephemeral actions, which are never stored. After a crash the model cannot repeat them, so it
    // takes over the head as an entry.
    if (this.#rebuilding && [...kind.classes.values()].includes('ephemeral') && kind.rows === undefined)
      this.#insert(channel, {
        seq,
        action: { type: '@head' },
        text: '',
        origin: undefined,
        at,
        state: head,
        fromHead: true,
      })
    else this.#fail(`the head of ${channel} at ${seq} is not its fold`)
  }

  /** Inserts by sequence number, in whatever order entries arrive. */
  #insert(channel: Uri, entry: ModelEntry): void {
    const history = this.channels.get(channel)
    if (!history) return
    // A head comes after the action with the same sequence number.
    const before = (seq: number) => seq < entry.seq || (entry.fromHead === true && seq === entry.seq)
    const at = history.entries.findLastIndex(({ seq }) => before(seq)) + 1
    history.entries.splice(at, 0, entry)
    let state = history.entries[at - 1]?.state ?? history.created.state
    for (const later of history.entries.slice(at)) {
      state = later.fromHead ? later.state : history.kind.reduce(state, later.action)
      later.state = state
    }
  }
}

/** The kinds of the channels with these prefixes. A changeset and annotations have the prefix of their owner, too. */
const kindsByPrefix = new Map([
  ['ahp-chat:', 'chat'],
  ['ahp-session:', 'session'],
])

/** Whether two states agree, apart from fields that no action can change. */
export function alike(kind: ChannelKind, a: unknown, b: unknown): boolean {
  return equal(changeable(kind, a), changeable(kind, b))
}
