import type { Client } from '@atrium/client/client'
import { pastEnvelopes, stateAt } from '@atrium/client/past'
import type { PastGap, PastPage, PastProgress, PastRange } from '@atrium/client/past'
import type { Envelope } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { reduceChat } from '@atrium/protocol/chat/reducer'
import type { ChatState } from '@atrium/protocol/chat/state'
import { member } from '../chat/shared/member.ts'

/** A chat as it was after one of its actions. */
export interface Moment {
  /** The number of shown actions up to this moment. */
  readonly position: number
  readonly seq: number
  readonly state: ChatState
  /** The id of the oldest loaded turn. Absent if all turns are loaded. */
  readonly older?: string
  /** The last action. Undefined at the beginning. */
  readonly envelope?: Envelope
  /** The actions just before this moment that are hidden, because a truncation has taken their turns away. */
  readonly gap?: PastGap
  readonly range: PastRange
}

const pageSize = 200
/** A page begins this many actions before the wanted one, so that steps backwards need no further page. */
const before = 50
const firstTurns = 20
/** The most actions that are applied here to a known state. For more, the host is asked for the state. */
const farthest = 250
const maxStates = 40

type Known = Pick<Moment, 'state' | 'older' | 'seq'>

/**
 * The past of one chat. Pages of actions are loaded when they are needed. The host is asked for a state only if none is
 * known that is near enough.
 */
export class PastReader {
  readonly #client: Client
  readonly #chat: string
  readonly #progress: PastProgress
  readonly #envelopes = new Map<number, Envelope>()
  readonly #gaps = new Map<number, PastGap>()
  /**
   * States by position. The state that was made or shown last is at the end, and the first one is dropped when there
   * are too many.
   */
  readonly #states = new Map<number, Known>()
  #range: PastRange | undefined

  constructor(client: Client, chat: string, progress: PastProgress) {
    this.#client = client
    this.#chat = chat
    this.#progress = progress
  }

  /** The chat after its last action, as the host counts them now. */
  async newest(): Promise<Moment> {
    const { total } = await this.#page(Math.max(1, this.#range?.total ?? 1), 1)
    const moment = await this.moment(total)
    // Actions may have arrived since the first page. The second one has brought them.
    return moment.position < moment.range.total ? this.moment(moment.range.total) : moment
  }

  /** The chat after this number of actions. If there are fewer, the newest moment. */
  async moment(wanted: number): Promise<Moment> {
    const { total } = this.#range ?? (await this.#page(1, 1))
    const position = Math.min(Math.max(0, wanted), total)
    if (position > 0 && !this.#envelopes.has(position)) {
      const page = await this.#page(Math.max(1, position - before), pageSize)
      // The page may not have the wanted action: long actions make a page short, and a truncation makes the past
      // shorter.
      if (!this.#envelopes.has(position))
        if (page.total < position) return this.moment(page.total)
        else await this.#page(position, pageSize)
    }
    const envelope = this.#envelopes.get(position)
    const known = await this.#state(position, envelope)
    const range = this.#range ?? { channel: this.#chat, begins: 0, ends: 0, total }
    const gap = this.#gaps.get(envelope?.serverSeq ?? -1)
    return { position, range, ...known, ...(envelope && { envelope }), ...(gap && { gap }) }
  }

  /** Returns the moment with one more page of its earlier turns. */
  async withOlder(moment: Moment): Promise<Moment> {
    const { older, seq, state, position } = moment
    if (older === undefined) return moment
    const query = { channel: this.#chat, seq, before: older, turns: firstTurns }
    const answer = await stateAt<ChatState>(this.#client, query, this.#progress)
    const turns = [...(answer.snapshot?.state.turns ?? []), ...state.turns]
    const known = {
      seq,
      state: { ...state, turns },
      ...(answer.older !== undefined && { older: answer.older }),
    }
    this.#keep(position, known)
    const { older: _, ...rest } = moment
    return { ...rest, ...known }
  }

  async #state(position: number, envelope: Envelope | undefined): Promise<Known> {
    const near = this.#nearest(position)
    const folded = near && this.#folded(near.position, position, near.known)
    const known = folded ?? (await this.#asked(envelope?.serverSeq ?? this.#range?.begins ?? 0))
    this.#keep(position, known)
    return known
  }

  #keep(position: number, known: Known): void {
    this.#states.delete(position)
    this.#states.set(position, known)
    const [oldest] = this.#states.keys()
    if (this.#states.size > maxStates && oldest !== undefined) this.#states.delete(oldest)
  }

  async #asked(seq: number): Promise<Known> {
    const query = { channel: this.#chat, seq, turns: firstTurns }
    const { snapshot, older, ...range } = await stateAt<ChatState>(this.#client, query, this.#progress)
    if (snapshot) return { seq, state: snapshot.state, ...(older !== undefined && { older }) }
    this.#forget()
    throw new Error(
      range.hidden === 'forgotten'
        ? 'The host has forgotten this part of the past.'
        : 'This part of the past was removed from the chat.',
    )
  }

  #nearest(position: number): { readonly position: number; readonly known: Known } | undefined {
    for (let at = position; at >= Math.max(0, position - farthest); at--) {
      const known = this.#states.get(at)
      if (known) return { position: at, known }
    }
    return undefined
  }

  /**
   * Applies the actions between two positions to a state. Undefined if an action is not loaded, or if only the host
   * knows the state after it.
   */
  #folded(from: number, to: number, { state: first, older, seq: begin }: Known): Known | undefined {
    let state = first
    let seq = begin
    for (let at = from + 1; at <= to; at++) {
      const { serverSeq, action } = this.#envelopes.get(at) ?? {}
      if (!action || serverSeq === undefined || this.#gaps.has(serverSeq) || isOmitted(action))
        return undefined
      // The cast is safe: the channel is a chat, and a reducer leaves actions alone that it does not know.
      state = reduceChat(state, action as ChatAction)
      seq = serverSeq
    }
    return { state, seq, ...(older !== undefined && { older }) }
  }

  async #page(position: number, limit: number): Promise<PastPage> {
    const query = { channel: this.#chat, position, limit }
    const page = await pastEnvelopes(this.#client, query, this.#progress)
    const { envelopes, gaps, ...range } = page
    const known = this.#range
    const moved = envelopes.some(
      ({ serverSeq }, i) => (this.#envelopes.get(page.position + i)?.serverSeq ?? serverSeq) !== serverSeq,
    )
    // A truncation or the retention of the host has changed the past. So nothing that was loaded counts any more.
    if (known && (moved || range.begins !== known.begins || range.total < known.total)) this.#forget()
    this.#range = range
    for (const [i, envelope] of envelopes.entries()) this.#envelopes.set(page.position + i, envelope)
    for (const gap of gaps) this.#gaps.set(gap.before, gap)
    return page
  }

  #forget(): void {
    this.#envelopes.clear()
    this.#gaps.clear()
    this.#states.clear()
    this.#range = undefined
  }
}

/** Whether the host has left out the content of an action, because it is too long for a message. */
function isOmitted(action: object): boolean {
  return member(member(member(action, '_meta'), 'x-atrium'), 'omitted') !== undefined
}
