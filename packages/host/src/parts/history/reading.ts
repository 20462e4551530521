import { AhpError } from '@atrium/protocol/errors'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Core } from '../../kernel/core.ts'
import { rowsIn } from '../../kernel/log/channel-rows.ts'
import { lengthOf } from '../../kernel/log/rows.ts'
import type { StoredEnvelope } from '../../ports/log.ts'
import type { ChannelHistory } from './channel-history.ts'
import { isShown } from './hidden.ts'
import type { PastState } from './saved-states.ts'
import { storedAction } from '../../kernel/log/entry.ts'

/** The most actions, and characters of actions, that are applied at once. Other work goes on before the next ones. */
const partCount = 64
const partLength = 64 * 1024

/** The work that one call may do, in characters of stored actions. */
export interface Work {
  left: number
  /** Whether the last range was read to its end. */
  complete: boolean
}

/** The error of a read that finds that retention has forgotten actions in the meantime. The caller begins again. */
export class Forgotten extends Error {
  override readonly name = 'Forgotten'
}

/**
 * Applies the stored actions up to a sequence number to the history of a channel. Returns false if the work of the
 * call is used up before that.
 */
export async function readOn(
  core: Core,
  history: ChannelHistory,
  upTo: number,
  work: Work,
): Promise<boolean> {
  for await (const part of parts(core, history, { after: history.readTo, upTo }, work)) {
    history.add(part)
    history.readTo = part.at(-1)?.seq ?? upTo
    boundLength(core, history)
  }
  if (work.complete) history.readTo = Math.max(history.readTo, upTo)
  return work.complete
}

/**
 * Returns the state at a sequence number, made from the nearest state in memory. Undefined if the work of the call is
 * used up.
 */
export async function pastState(
  core: Core,
  history: ChannelHistory,
  seq: number,
  work: Work,
): Promise<PastState | undefined> {
  const { last, states, kind } = history
  if (seq >= last.seq) return last
  let found = states.before(seq)
  if (!found) return undefined
  for await (const part of parts(core, history, { after: found.seq, upTo: seq }, work)) {
    for (const { seq: at, action: text } of part) {
      // The cast is safe: a schema had checked each action before it was stored.
      const action = storedAction(text)
      const counts = isShown(action) && !history.gapAt(at)
      const position: number = found.position + (counts ? 1 : 0)
      found = { seq: at, position, state: kind.reduce(found.state, action) }
      states.read(text.length)
    }
    // The work may be used up: then the next call goes on from here.
    if (work.left < 0) states.insert(found)
    boundLength(core, history)
  }
  return work.complete ? found : undefined
}

interface Range {
  readonly after: number
  readonly upTo: number
}

/** Yields the stored actions of a range in small parts, until the work of the call is used up. */
async function* parts(
  { store, world }: Core,
  { uri }: ChannelHistory,
  { after, upTo }: Range,
  work: Work,
): AsyncGenerator<readonly StoredEnvelope[]> {
  work.complete = after >= upTo
  for (let from = after; !work.complete && work.left >= 0;) {
    const slice = await store.log.read([uri], from, upTo)
    if (slice.forgotten) throw new Forgotten()
    const { envelopes, more } = slice
    let at = 0
    while (at < envelopes.length && work.left >= 0) {
      const part = firstPart(envelopes, at)
      // Echoes and other requests come before the next part.
      if (at > 0 || from > after) await new Promise<void>((resolve) => void world.later(0, resolve))
      for (const { action } of part) work.left -= action.length
      at += part.length
      work.complete = !more && at === envelopes.length
      yield part
    }
    if (envelopes.length === 0) work.complete = true
    from = envelopes.at(-1)?.seq ?? upTo
  }
}

function firstPart(envelopes: readonly StoredEnvelope[], from: number): readonly StoredEnvelope[] {
  let length = 0
  let to = from
  while (to < envelopes.length && to - from < partCount && (to === from || length < partLength))
    length += envelopes[to++]?.action.length ?? 0
  return envelopes.slice(from, to)
}

/**
 * Drops saved states of a channel if they may need too much memory. Their exact length is not computed: it is at most
 * the length of the actions that were read to make them. Throws if the newest state alone is too long.
 */
export function boundLength(
  { limits }: { readonly limits: Pick<LimitValues, 'pastLength'> },
  {
    kind,
    states,
    last,
  }: Pick<ChannelHistory, 'states' | 'last'> & { readonly kind: { readonly rows: string | undefined } },
): void {
  if (states.length <= limits.pastLength) return
  // The lengths of turns are cached: they were counted when the turns ended.
  const length = rowsIn(kind.rows, last.state).reduce((sum, row) => sum + lengthOf(row), 0)
  states.shrink(length)
  if (length > limits.pastLength)
    throw AhpError.permissionDenied(`a state with more than ${limits.pastLength} characters cannot be shown`)
}
