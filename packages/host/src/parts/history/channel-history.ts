import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { PastGap, PastRange } from '@atrium/protocol/root/past'
import type { ChannelCreation, StoredEnvelope } from '../../ports/log.ts'
import { isShown } from './hidden.ts'
import { nearest, SavedStates } from './saved-states.ts'
import type { Moment, PastState } from './saved-states.ts'
import { TurnEnds } from './turn-ends.ts'
import { storedAction } from '../../kernel/log/entry.ts'

/**
 * A mark (a sequence number with its position) is kept after `markEvery` actions, or after `markLength` characters of
 * actions. So a page is found without reading much.
 */
const markEvery = 256
const markLength = 256 * 1024

/**
 * What the host knows of the past of one channel: which of its actions are shown, and some of its states. It is made by
 * one pass over the stored actions, which goes on when there are more of them. Nothing of it is stored.
 */
export class ChannelHistory {
  readonly uri: Uri
  readonly kind: ChannelKind
  /** The sequence number of the creation, or of the checkpoint, with which the pass began. */
  readonly origin: number
  readonly forgotten: boolean
  /** The sequence number up to which the stored actions were read. */
  readTo: number
  readonly states: SavedStates
  readonly #turns = new TurnEnds()
  #begin: PastState
  #last: PastState
  #marks: Moment[]
  #sinceMark = { count: 0, length: 0 }
  #gaps: readonly PastGap[] = []
  #truncatedTo: number | undefined

  constructor({ channel, seq, state }: ChannelCreation, kind: ChannelKind, forgotten: boolean) {
    this.uri = channel
    this.kind = kind
    this.origin = seq
    this.forgotten = forgotten
    this.readTo = seq
    this.#begin = { seq, position: 0, state: JSON.parse(state) }
    this.#last = this.#begin
    this.#marks = [this.#begin]
    this.states = new SavedStates(this.#begin, state.length)
  }

  /** The state after the last action that was read. */
  get last(): PastState {
    return this.#last
  }

  get gaps(): readonly PastGap[] {
    return this.#gaps
  }

  /** The ids of the pending messages that became turns and were removed with these by a truncation. */
  get takenMessages(): ReadonlySet<string> {
    return this.#turns.takenMessages
  }

  get shown(): PastRange {
    const { forgotten, origin } = this
    return {
      channel: this.uri,
      begins: this.#begin.seq,
      ends: this.#last.seq,
      total: this.#last.position,
      ...(forgotten && { forgottenTo: origin }),
      ...(this.#truncatedTo !== undefined && { truncatedTo: this.#truncatedTo }),
    }
  }

  /** The gap in which a sequence number lies. */
  gapAt(seq: number): PastGap | undefined {
    return this.#gaps.find(({ after, before }) => seq > after && seq < before)
  }

  /** The last mark that is not after a sequence number, or not after a position. */
  markBefore(by: 'seq' | 'position', value: number): Moment {
    return nearest(this.#marks, by, value) ?? this.#begin
  }

  /** Applies the next stored actions. */
  add(envelopes: readonly StoredEnvelope[]): void {
    for (const envelope of envelopes) this.#apply(envelope)
  }

  #apply({ seq, action: text }: StoredEnvelope): void {
    // The cast is safe: a schema had checked each action before it was stored.
    const action = storedAction(text)
    const before = this.#last
    const state = this.kind.reduce(before.state, action)
    const position = before.position + (isShown(action) ? 1 : 0)
    this.#last = { seq, position, state }
    this.states.read(text.length)
    if (this.kind.name === 'chat' && this.#beginsAnew(action, before)) return
    this.#mark(text.length)
    this.states.offer(this.#last)
  }

  /**
   * Handles two kinds of actions of a chat: those with which the history begins anew, and those that remove turns.
   * Returns whether the history begins anew.
   */
  #beginsAnew(action: Action, before: PastState): boolean {
    // The log of a fork begins with the copied turns, page by page. They count as its first state.
    const copied = action.type === 'chat/turnsLoaded' && before.position === 0
    const cut = this.#turns.apply(action, { before, after: this.#last, begin: this.#begin })
    if (copied || cut === 'everything') {
      if (cut) this.#truncatedTo = this.#last.seq
      this.#begin = { ...this.#last, position: 0 }
      this.#last = this.#begin
      this.#marks = [this.#begin]
      this.#gaps = []
      this.states.beginAt(this.#begin)
      return true
    }
    if (cut) this.#cut(cut)
    return false
  }

  /** Hides the actions after a moment, because the last action, a truncation, has removed their turns. */
  #cut(from: Moment): void {
    const { seq, state } = this.#last
    this.#last = { seq, position: from.position + 1, state }
    this.#marks = this.#marks.filter((mark) => mark.seq <= from.seq)
    this.#gaps = [...this.#gaps.filter((gap) => gap.before <= from.seq), { after: from.seq, before: seq }]
    this.states.cut(from.seq)
    this.states.insert(this.#last)
    this.#sinceMark = { count: markEvery, length: 0 }
  }

  #mark(length: number): void {
    const { count, length: before } = this.#sinceMark
    this.#sinceMark = { count: count + 1, length: before + length }
    if (count + 1 < markEvery && before + length < markLength) return
    this.#marks.push({ seq: this.#last.seq, position: this.#last.position })
    this.#sinceMark = { count: 0, length: 0 }
  }
}
