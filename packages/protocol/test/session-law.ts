import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Action } from '../src/channel.ts'
import { oracle } from '../src/oracles/oracle.ts'
import { Flag, hasFlag } from '../src/status.ts'
import { makesGap, withoutGaps } from '../src/versions/gaps.ts'
import { rebuild } from '../src/versions/lens.ts'
import type { Lens, Lowered } from '../src/versions/lens.ts'
import type { Version } from '../src/versions/negotiate.ts'
import { at, objectChange, omit, shapeOf, shapeOfAction } from '../src/versions/shape.ts'
import { primaryChat } from '../src/session/primary-chat.ts'
import { deepFreeze } from './cases.ts'
import { hostedAction } from './law.ts'

/**
 * A session with its primary chat and its changeset. Up to 0.3 session and chat are one state, and `chat` is absent; at 0.1
 * the changeset is a part of that state, too.
 */
export interface Pair {
  readonly session: object
  readonly chat?: object | undefined
  readonly changeset?: object | undefined
}

export interface Event {
  readonly kind: 'session' | 'chat' | 'changeset'
  readonly action: Action
}

/** Events that the host appends in one step. A client has seen either all of them or none. */
export type Batch = readonly Event[]

const viewer = 'a'
/** The summary of the session, as `listSessions` returns it. */
const summary = deepFreeze({
  resource: 'ahp-session:/s',
  provider: 'p',
  title: 'T',
  status: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  modifiedAt: '2026-01-02T03:04:05.678Z',
})

/**
 * Checks the law for a session, its primary chat and its changeset: what a client of the older version reduces equals the
 * lowered pair. A client that must begin again goes on with the lowered pair. `newer` is the version of the pair.
 */
export function expectPairLaw(lens: Lens, newer: Version, initial: Pair, batches: readonly Batch[]): void {
  let pair = deepFreeze(initial)
  let seen = deepFreeze(pairDown(lens, pair))
  for (const batch of deepFreeze(batches)) {
    for (const event of batch) {
      const after = deepFreeze(reduced(newer, pair, event))
      const lowered = eventDown(lens, pair, after, event)
      const gap = makesGap(lens.version, event.kind, shapeOfAction(event.action), stateOf(pair, event.kind))
      seen =
        gap || lowered === rebuild
          ? pairDown(lens, after)
          : lowered.reduce((state, action) => reduced(lens.version, state, { ...event, action }), seen)
      pair = after
    }
    expectSame(lens.version, seen, pairDown(lens, pair), batch)
  }
}

/** Checks the law for a chat that clients of 0.3 and below see as a session of its own. */
export function expectChatLaw(lens: Lens, newer: Version, chat: object, actions: readonly Action[]): void {
  const down = (state: object): Pair => ({ session: lens.stateDown('chat', state, { viewer, summary }) })
  let before = deepFreeze(chat)
  let seen = deepFreeze(down(before))
  for (const action of deepFreeze(actions)) {
    const after = deepFreeze(oracle(newer).chat?.(before, action, 9999) ?? before)
    const lowered = lens.actionDown('chat', action, { viewer, before, after })
    seen =
      lowered === rebuild || makesGap(lens.version, 'chat', shapeOfAction(action), before)
        ? down(after)
        : lowered.reduce((pair, one) => reduced(lens.version, pair, { kind: 'session', action: one }), seen)
    expectSame(lens.version, seen, down(after), action)
    before = after
  }
}

function expectSame(version: Version, seen: Pair, lowered: Pair, by: object): void {
  const [actual, expected] = [seen, lowered].map((pair) => comparable(version, pair))
  // The fast comparison runs first; the slow one prints the difference.
  if (!isDeepStrictEqual(actual, expected))
    expect(actual, JSON.stringify({ version, by })).toStrictEqual(expected)
}

/**
 * The events as a host appends them. The session becomes unread when something needs attention, and its chats are put in
 * another order only if the primary chat stays.
 */
export function batchesOf(pair: Pair, events: readonly Event[]): readonly Batch[] {
  const primary = primaryChat(shapeOf(pair.session))
  const batches: Batch[] = []
  let now = pair
  for (const { kind, action } of events) {
    const event = { kind, action: hostedAction(action) }
    const unread = needsAttention(event.action) && isRead(now) ? [markUnread] : []
    const batch = [event, ...unread]
    const after = batch.reduce((state, each) => reduced('1.0.0', state, each), now)
    const switched = primaryChat(shapeOf(after.session)) !== primary
    if (switched && event.action.type === 'session/chatsReordered') continue
    batches.push(batch)
    if (switched) return batches
    now = after
  }
  return batches
}

const attention = new Set(['chat/turnStarted', 'chat/turnResume', 'chat/inputRequested'])

/** Whether an action asks for the attention of users. A part that is an open request counts like `chat/inputRequested`. */
function needsAttention(action: Action): boolean {
  const part = shapeOf(shapeOfAction(action)['part'])
  const asks = part['kind'] === 'inputRequest' && part['response'] === undefined
  return attention.has(action.type) || (action.type === 'chat/responsePart' && asks)
}

const markUnread: Event = {
  kind: 'session',
  action: Object.assign({ type: 'session/isReadChanged' }, { isRead: false }),
}

function isRead({ session }: Pair): boolean {
  return hasFlag(Number(shapeOf(session)['status']), Flag.IsRead)
}

/** The pair and the batches in an older version, up to the event that this version cannot express. */
export function begun(
  lens: Lens,
  pair: Pair,
  batches: readonly Batch[],
): { readonly initial: Pair; readonly batches: readonly Batch[] } {
  const older: Batch[] = []
  let before = pair
  for (const batch of batches) {
    const events: Event[] = []
    for (const event of batch) {
      const after = reduced('1.0.0', before, event)
      const lowered = eventDown(lens, before, after, event)
      if (lowered === rebuild) return { initial: pairDown(lens, pair), batches: older }
      events.push(...lowered.map((action) => ({ ...event, action })))
      before = after
    }
    older.push(events)
  }
  return { initial: pairDown(lens, pair), batches: older }
}

function eventDown(lens: Lens, before: Pair, after: Pair, { kind, action }: Event): Lowered {
  return lens.actionDown(kind, action, { viewer, before: stateOf(before, kind), after: stateOf(after, kind) })
}

function stateOf(pair: Pair, kind: Event['kind']): object {
  return (kind !== 'session' && pair[kind]) || pair.session
}

export function pairDown(lens: Lens, { session, chat, changeset }: Pair): Pair {
  const reducers = oracle(lens.version)
  return {
    session: lens.stateDown('session', session, { viewer, summary, chat, changeset }),
    ...(chat && reducers.chat && { chat: lens.stateDown('chat', chat, { viewer }) }),
    ...(changeset && reducers.changeset && { changeset: lens.stateDown('changeset', changeset, { viewer }) }),
  }
}

function reduced(version: Version, pair: Pair, { kind, action }: Event): Pair {
  const reducers = oracle(version)
  const state = kind === 'session' ? undefined : pair[kind]
  return state && kind !== 'session'
    ? { ...pair, [kind]: reducers[kind]?.(state, action, 9999) ?? state }
    : { ...pair, session: reducers.session(pair.session, action, 9999) }
}

/** The pair without gaps, and without times, because each reducer writes the time of its own clock. */
function comparable(version: Version, { session, chat, changeset }: Pair): object {
  // Up to 0.3 the session has the gaps of its chat too.
  const shown = withoutGaps(version, 'session', chat ? session : withoutGaps(version, 'chat', session))
  const untimed = at(
    shapeOf(shown),
    'summary',
    objectChange((value) => omit(value, 'modifiedAt')),
  )
  return {
    session: untimed,
    chat: chat && omit(shapeOf(withoutGaps(version, 'chat', chat)), 'modifiedAt'),
    changeset: changeset && withoutGaps(version, 'changeset', changeset),
  }
}
