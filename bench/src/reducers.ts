import { kinds } from '@atrium/protocol/channels'
import { reducers } from '@atrium/protocol/reducers'
import type { ChatState, MarkdownPart } from '@atrium/protocol/chat/state'
import { notifications } from '@atrium/protocol/commands'
import { checkAction } from '@atrium/protocol/kind'
import { defaultLimits, frameProblem } from '@atrium/protocol/rpc/frame-check'
import { messageOf } from '@atrium/protocol/rpc/message'
import { decode } from '@atrium/protocol/schema'
import type { Action, Envelope } from '@atrium/protocol/channel'
import { measure } from './measure.ts'
import type { Variant } from './measure.ts'
import { frames } from './stream.ts'
import { print } from './table.ts'

const seed = 20261115

/** Measures the time to reduce a text delta, and the time to parse and check a frame before it is reduced. */
export function reducersBench(): boolean {
  return [partsTable(), lengthTable(), frameTable()].every(Boolean)
}

function partsTable(): boolean {
  const counts = [1, 100, 2000]
  const best = measure(counts.map((count) => deltas(`${count}`, chatWith(count, 100))))
  const one = best.get('1') ?? NaN
  return print(
    'chat/delta, by parts in the active turn (the text goes to the last part)',
    counts.map((count) => {
      const ns = best.get(`${count}`) ?? NaN
      return {
        what: `${count} part${count > 1 ? 's' : ''}`,
        ns,
        ratio: ns / one,
        ...(count === 2000 && { goal: 3 }),
      }
    }),
  )
}

function lengthTable(): boolean {
  const sizes = [1_000, 100_000, 10_000_000]
  const best = measure(sizes.map((size) => deltas(`${size}`, chatWith(1, size))))
  const short = best.get('1000') ?? NaN
  return print(
    'chat/delta, by the length of the text it is appended to',
    sizes.map((size) => {
      const ns = best.get(`${size}`) ?? NaN
      return { what: `${size / 1000} KB`, ns, ratio: ns / short, goal: 1.5 }
    }),
  )
}

function frameTable(): boolean {
  const stream = frames(2000, seed)
  const parsed = stream.map((frame) => JSON.parse(frame) as { params: Envelope })
  const best = measure([
    over('JSON.parse alone', stream, (frame) => JSON.parse(frame)),
    over('frameProblem', stream, (frame) => frameProblem(frame, defaultLimits)),
    over('message', parsed, (value) => messageOf(value)),
    over('envelope', parsed, ({ params }) => checkEnvelope(params)),
    over('action', parsed, ({ params }) => check(params.action)),
    over('all', stream, receive),
  ])
  const bare = best.get('JSON.parse alone') ?? NaN
  const bytes = stream.reduce((sum, frame) => sum + frame.length, 0) / stream.length
  const row = (what: string, name: string) => ({
    what,
    ns: best.get(name) ?? NaN,
    ratio: (best.get(name) ?? NaN) / bare,
  })
  return print(
    `a frame of ${bytes.toFixed(0)} characters on average (seed ${seed}), relative to bare JSON.parse`,
    [
      row('JSON.parse alone', 'JSON.parse alone'),
      row('  frame check: size, depth, keys, __proto__', 'frameProblem'),
      row('  message: which kind it is', 'message'),
      row('  envelope: checked', 'envelope'),
      row('  action: checked by its type', 'action'),
      { ...row('parse + frame check + validate', 'all'), goal: 3 },
    ],
  )
}

const byType = new Map(
  Object.values(kinds).flatMap((kind) => [...kind.actions.keys()].map((type) => [type, kind])),
)
const envelope = notifications.get('action')?.params

function receive(frame: string): void {
  if (frameProblem(frame, defaultLimits) !== undefined) throw new Error('refused')
  const message = messageOf(JSON.parse(frame))
  if (message.kind !== 'notification') throw new Error('not a notification')
  checkEnvelope(message.params)
  check((message.params as Envelope).action)
}

function checkEnvelope(params: unknown): void {
  if (!envelope || !decode(envelope, params).ok) throw new Error('refused')
}

function check(action: Action): void {
  const kind = byType.get(action.type)
  if (!kind || !checkAction(kind, action).ok) throw new Error(`refused: ${action.type}`)
}

function over<T>(name: string, items: readonly T[], each: (item: T) => unknown): Variant {
  return { name, count: items.length, run: () => items.forEach((item) => void each(item)) }
}

function deltas(name: string, initial: ChatState): Variant {
  const count = 5000
  const partId = `p${(initial.activeTurn?.responseParts.length ?? 0) - 1}`
  const action = { type: 'chat/delta', turnId: 't', partId, content: 'a few words ' } as const
  const run = () => {
    let state = initial
    for (let i = 0; i < count; i++) state = reducers.chat(state, action)
    if (state === initial) throw new Error('nothing was appended')
  }
  return { name, count, run }
}

function chatWith(parts: number, length: number): ChatState {
  const part = (i: number): MarkdownPart => ({ kind: 'markdown', id: `p${i}`, content: 'x'.repeat(length) })
  const message = { text: 'go', origin: { kind: 'user' } }
  const startedAt = '2026-01-01T00:00:00.000Z'
  return {
    resource: 'ahp-chat:/1',
    title: 'bench',
    status: 8,
    modifiedAt: startedAt,
    turns: [],
    activeTurn: {
      id: 't',
      startedAt,
      message,
      responseParts: Array.from({ length: parts }, (_, i) => part(i)),
    },
  }
}
