import { receive, view } from '@atrium/client/sync/replica'
import type { PendingAction, Replica } from '@atrium/client/sync/replica'
import { kinds } from '@atrium/protocol/channels'
import type { Envelope } from '@atrium/protocol/channel'
import type { ChatState, MarkdownPart, Turn } from '@atrium/protocol/chat/state'
import { notifications } from '@atrium/protocol/commands'
import { checkAction } from '@atrium/protocol/kind'
import { reducers } from '@atrium/protocol/reducers'
import { defaultLimits, frameProblem } from '@atrium/protocol/rpc/frame-check'
import { messageOf } from '@atrium/protocol/rpc/message'
import { decode } from '@atrium/protocol/schema'
import { atMost, parts, row } from '../figures.ts'
import { measure } from '../measure.ts'
import type { Variant } from '../measure.ts'
import { frames } from './frames.ts'
import { weightTable } from './weight.ts'

/**
 * Measures what host and client share: reducing a text delta, parsing and checking a frame, another client's action at a
 * client with pending ones, and the size of the client's bundle.
 */
export function clientBench(wanted: readonly string[]): Promise<boolean> {
  return parts(wanted, {
    parts: () =>
      compare('a chat/delta with 2,000 parts', [reduced(2000, 100), reduced(1, 100)], 'with one', 3),
    length: () =>
      compare('a chat/delta to 10 MB of text', [reduced(1, 1e7), reduced(1, 1000)], 'to 1 KB', 1.5),
    frame: frameTable,
    // Linear: a hundred may cost at most 12 times as much as ten.
    pending: () =>
      compare('an action shown above 100 pending ones', [shown(100, 10), shown(10, 10)], 'above 10', 12),
    history: () =>
      compare('an action shown in a chat of 2,000 turns', [shown(10, 2000), shown(10, 10)], 'of 10', 1.5),
    weight: weightTable,
  })
}

/** Compares the times of one repetition. */
function compare(what: string, [ours, other]: readonly [Task, Task], to: string, most: number): boolean {
  const best = measure([
    { name: 'ours', ...ours },
    { name: 'other', ...other },
  ])
  const [mine, theirs] = [best.get('ours') ?? NaN, best.get('other') ?? NaN]
  return row(what, `${(mine / 1000).toFixed(2)} µs`, atMost(most, mine / theirs, to))
}

type Task = Omit<Variant, 'name'>

function frameTable(): boolean {
  const stream = frames(2000, 20261115)
  const over = (each: (frame: string) => unknown): Task => ({
    count: stream.length,
    run: () => stream.forEach((frame) => void each(frame)),
  })
  const bare = over((frame) => JSON.parse(frame) as unknown)
  return compare('a frame of a busy chat, parsed and checked', [over(checked), bare], 'JSON.parse alone', 3)
}

const byType = new Map(
  Object.values(kinds).flatMap((kind) => [...kind.actions.keys()].map((type) => [type, kind])),
)
const envelope = notifications.get('action')?.params

function checked(frame: string): void {
  if (frameProblem(frame, defaultLimits) !== undefined) throw new Error('refused')
  const message = messageOf(JSON.parse(frame))
  if (message.kind !== 'notification' || !envelope || !decode(envelope, message.params).ok)
    throw new Error('refused')
  // The shape of an envelope has just been checked.
  const { action } = message.params as Envelope
  const kind = byType.get(action.type)
  if (!kind || !checkAction(kind, action).ok) throw new Error(`refused: ${action.type}`)
}

/** Reduces deltas to the last of some parts, each with a text of some length. */
function reduced(count: number, length: number): Task {
  const initial = chatWith(0, count, length)
  const action = {
    type: 'chat/delta',
    turnId: 't',
    partId: `p${count - 1}`,
    content: 'a few words ',
  } as const
  const run = () => {
    let state = initial
    for (let i = 0; i < 5000; i++) state = reducers.chat(state, action)
    if (state === initial) throw new Error('nothing was appended')
  }
  return { count: 5000, run }
}

/** Receives deltas of another client, at a client with pending actions in a chat with finished turns, and shows each. */
function shown(pending: number, turns: number): Task {
  const initial = replicaWith(pending, turns)
  const action = { type: 'chat/delta', turnId: 't', partId: 'p0', content: 'a few words ' }
  const run = () => {
    let replica = initial
    for (let n = 0; n < 500; n++) {
      const next = { channel: 'ahp-chat:/1', serverSeq: replica.seq + 1, action }
      replica = receive(reducers.chat, replica, next, 'me')
      if (view(reducers.chat, replica) === initial.confirmed) throw new Error('nothing was shown')
    }
  }
  return { count: 500, run }
}

function replicaWith(pending: number, turns: number): Replica<ChatState> {
  const pendingAction = (n: number): PendingAction => ({
    clientSeq: n + 1,
    channel: 'ahp-chat:/1',
    action: { type: 'chat/draftChanged', draft: { ...message, text: `draft ${n}` } } as never,
  })
  const confirmed = chatWith(turns, 1, 0)
  return { confirmed, seq: 1, pending: Array.from({ length: pending }, (_, n) => pendingAction(n)) }
}

const message = { text: 'go', origin: { kind: 'user' as const } }
const startedAt = '2026-01-01T00:00:00.000Z'

function chatWith(turns: number, count: number, length: number): ChatState {
  const part = (i: number): MarkdownPart => ({ kind: 'markdown', id: `p${i}`, content: 'x'.repeat(length) })
  const turn = (n: number): Turn => ({
    id: `t${n}`,
    startedAt,
    message,
    responseParts: [],
    state: 'complete',
  })
  const responseParts = Array.from({ length: count }, (_, i) => part(i))
  return {
    resource: 'ahp-chat:/1',
    title: 'bench',
    status: 8,
    modifiedAt: startedAt,
    turns: Array.from({ length: turns }, (_, n) => turn(n)),
    activeTurn: { id: 't', startedAt, message, responseParts },
  }
}
