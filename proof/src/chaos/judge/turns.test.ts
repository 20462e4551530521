import type { Envelope } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import type { Line, Run } from '../history.ts'
import { judge } from './judge.ts'

const session = 'ahp-session:/one'
const chat = defaultChatUri(session)
const initial = { resource: chat, title: '', status: 1, modifiedAt: '2026-01-01T00:00:00Z', turns: [] }

const start = {
  type: 'chat/turnStarted',
  turnId: 't',
  startedAt: '2026-01-01T00:00:00Z',
  message: { text: 'go', origin: { kind: 'user' } },
}
const part = { type: 'chat/responsePart', turnId: 't', part: { kind: 'markdown', id: 'p', content: '' } }
const delta = (content: string) => ({ type: 'chat/delta', turnId: 't', partId: 'p', content })
const end = { type: 'chat/turnComplete', turnId: 't', duration: 5 }

/** A disk with these actions, numbered from 10, and a session that shows the chat. */
function run(actions: readonly object[], lines: readonly Line[] = [], entry: object = {}): Run {
  const envelopes = actions.map((action, at) => ({ channel: chat, action, serverSeq: 10 + at }) as Envelope)
  const state = envelopes.reduce(
    (before, { action }) => kinds.chat.reduce(before, action),
    initial as unknown as ChatState,
  )
  const { status, modifiedAt } = state
  const chats = [{ resource: chat, title: '', status, modifiedAt, ...entry }]
  const shown = { provider: 'x', title: 'x', status: 1, lifecycle: 'ready', activeClients: [], chats }
  const birth = { seq: 3, state: initial }
  const created: Line[] = [
    line('out', { id: 1, method: 'createSession', params: { channel: session } }),
    line('in', { id: 1, result: null }),
  ]
  const channels = [
    { uri: session, kind: 'session', state: shown, envelopes: [], birth: { seq: 2, state: shown } },
    { uri: chat, kind: 'chat', state, envelopes, birth },
  ]
  return {
    name: 'turns',
    histories: [{ client: 'ann', lines: [...created, ...lines] }],
    stored: { channels, damaged: [], sessions: [session], rested: true },
  }
}

const line = (way: 'in' | 'out', frame: object): Line => ({
  at: 1,
  link: 1,
  way,
  text: JSON.stringify(frame),
})
const received = (serverSeq: number, action: object) =>
  line('in', { method: 'action', params: { channel: chat, action, serverSeq } })
const subscribed = (fromSeq: number, state: object) => [
  line('out', { id: 2, method: 'subscribe', params: { channel: chat } }),
  line('in', { id: 2, result: { snapshot: { resource: chat, fromSeq, state } } }),
]

const rules = (of: Run) => [...new Set(judge(of).violations.map(({ rule }) => rule))]

test('[B10] a turn that starts and ends has no violation', () => {
  expect(judge(run([start, part, delta('a'), end])).violations).toEqual([])
})

test.each([
  ['ends twice', [start, end, end]],
  ['gets an action after its end', [start, part, end, delta('late')]],
  ['is overlapped by another', [start, { ...start, turnId: 'u' }, { ...end, turnId: 'u' }]],
  ['never ends', [start, part]],
])('[B10] I17: a turn that %s', (_, actions) => {
  expect(rules(run(actions))).toEqual(['I17'])
})

test('[B10] [I18] a session whose entry differs from its chat', () => {
  expect(rules(run([start, end], [], { status: 8 }))).toEqual(['I18'])
})

test('[B10] I8: a crash may lose text of an active turn, and nothing else', () => {
  const text = [...subscribed(3, initial), received(10, start), received(11, part), received(12, delta('a'))]
  const stopped = {
    ...end,
    type: 'chat/error',
    part: { kind: 'error', error: { errorType: 'x', message: '' } },
  }
  // The crash lost envelope 12, and the next host run continues with much higher numbers.
  const kept = run([start, part, stopped], text)
  const [, stored] = kept.stored.channels
  const after =
    stored?.envelopes.map((one, at) => ({ ...one, serverSeq: at < 2 ? one.serverSeq : 900 })) ?? []
  const channels = kept.stored.channels.map((one) => (one.uri === chat ? { ...one, envelopes: after } : one))
  const crashed = { ...kept, stored: { ...kept.stored, channels } }
  expect(judge(crashed).violations).toEqual([])
  const [ann] = crashed.histories
  const lines = [...(ann?.lines ?? []), received(900, stopped)]
  expect(rules({ ...crashed, histories: [{ client: 'ann', lines }] })).toEqual(['I3'])
})
