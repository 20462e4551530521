import type { Action, Envelope } from '@atrium/protocol/channel'
import type { PastGap, PastPage } from '@atrium/protocol/root/past'
import type { Core } from '../../kernel/core.ts'
import type { StoredEnvelope } from '../../ports/log.ts'
import type { ChannelHistory } from './channel-history.ts'
import { isShown, mayBeHidden, shownAction } from './hidden.ts'
import { Forgotten } from './reading.ts'
import type { Moment } from './saved-states.ts'
import { storedAction } from '../../kernel/log/entry.ts'

/**
 * The part of the history that is wanted: where the page begins, by sequence number or by position, and the maximum
 * number of envelopes.
 */
export interface PageBounds {
  readonly by: 'seq' | 'position'
  /** The sequence number or the position before the page. */
  readonly after: number
  readonly limit: number
  /** The sequence number up to which the channel was read. */
  readonly upTo: number
}

/**
 * Reads a page of envelopes. Reading begins at the nearest mark, so that little is read which is not in the page. A
 * gap is skipped without reading all of it.
 */
export async function pageOf(
  { store, limits }: Core,
  history: ChannelHistory,
  { by, after, limit, upTo }: PageBounds,
): Promise<PastPage> {
  const page = new Page(history, limit, limits.envelopesLength)
  let at: Moment = history.markBefore(by, after)
  for (let more = true; more && !page.full;) {
    const slice = await store.log.read([history.uri], at.seq, upTo)
    if (slice.forgotten) throw new Forgotten()
    more = slice.more
    for (const envelope of slice.envelopes) {
      const gap = history.gapAt(envelope.seq)
      if (gap) {
        // The next read begins after the last hidden action: with the truncation.
        at = { seq: gap.before - 1, position: at.position }
        more = true
        break
      }
      const shown = isPart(envelope)
      at = { seq: envelope.seq, position: at.position + (shown ? 1 : 0) }
      if (shown && at[by] > after && !page.add(envelope, at.position, limits.replayLength)) break
    }
  }
  return page.result(by === 'position' ? after + 1 : at.position + 1)
}

function isPart({ action }: StoredEnvelope): boolean {
  // The cast is safe: a schema had checked each action before it was stored.
  return !mayBeHidden(action) || isShown(storedAction(action))
}

class Page {
  readonly #history: ChannelHistory
  readonly #limit: number
  readonly #maxLength: number
  readonly #envelopes: Envelope[] = []
  #first: number | undefined
  #length = 0
  full = false

  constructor(history: ChannelHistory, limit: number, maxLength: number) {
    this.#history = history
    this.#limit = limit
    this.#maxLength = maxLength
  }

  /** Adds an envelope. Returns false if the page is full. A page has at least one envelope, however long. */
  add(envelope: StoredEnvelope, position: number, longest: number): boolean {
    const { length } = envelope.action
    const tooLong = this.#envelopes.length > 0 && this.#length + length > this.#maxLength
    this.full = tooLong || this.#envelopes.length >= this.#limit
    if (this.full) return false
    this.#first ??= position
    this.#length += length
    this.#envelopes.push(this.#shown(envelope, longest))
    return true
  }

  /** `next`: the position of an envelope that could come next, for a page without envelopes. */
  result(next: number): PastPage {
    const { gaps, shown } = this.#history
    const position = this.#first ?? next
    const numbers = new Set(this.#envelopes.map(({ serverSeq }) => serverSeq))
    return {
      ...shown,
      envelopes: this.#envelopes,
      position,
      more: this.#envelopes.length > 0 && position + this.#envelopes.length <= shown.total,
      gaps: gaps.filter((gap: PastGap) => numbers.has(gap.before)),
    }
  }

  #shown({ seq, action: text, origin }: StoredEnvelope, longest: number): Envelope {
    const { uri, takenMessages } = this.#history
    // The cast is safe: a schema had checked each action before it was stored.
    const action = shownAction(storedAction(text), takenMessages)
    const shown: Action & { _meta?: object } =
      text.length <= longest ? action : { type: action.type, _meta: { 'x-atrium': { omitted: text.length } } }
    const by = origin && { origin: { clientId: origin.clientId, clientSeq: origin.clientSeq } }
    return { channel: uri, action: shown, serverSeq: seq, ...by }
  }
}
