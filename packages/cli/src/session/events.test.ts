import type { ChatAction } from '@atrium/protocol/chat/actions'
import { reduceChat } from '@atrium/protocol/chat/reducer'
import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { SessionEvents } from './events.ts'

const empty: ChatState = {
  resource: 'ahp-chat:/c',
  title: '',
  status: 1,
  modifiedAt: '2026-01-01T00:00:00Z',
  turns: [],
}
const message = (text: string) => ({ text, origin: { kind: 'user' as const } })
const turnId = 't1'
const call = { turnId, toolCallId: 'c1' }
const actions: readonly ChatAction[] = [
  { type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00Z', message: message('hello') },
  { type: 'chat/responsePart', turnId, part: { kind: 'reasoning', id: 'r', content: '' } },
  { type: 'chat/reasoning', turnId, partId: 'r', content: 'hm' },
  { type: 'chat/responsePart', turnId, part: { kind: 'markdown', id: 'm', content: 'a' } },
  { type: 'chat/delta', turnId, partId: 'm', content: 'b' },
  { type: 'chat/delta', turnId, partId: 'm', content: 'c' },
  { type: 'chat/pendingMessageSet', kind: 'steering', id: 's', message: message('rather not') },
  { type: 'chat/responsePart', turnId, part: { kind: 'systemNotification', content: 'a notice' } },
  { type: 'chat/toolCallStart', ...call, toolName: 'run', displayName: 'Run' },
  { type: 'chat/toolCallReady', ...call, invocationMessage: 'Run it' },
  { type: 'chat/toolCallConfirmed', ...call, approved: true, confirmed: 'user-action' },
  { type: 'chat/toolCallComplete', ...call, result: { success: true, pastTenseMessage: 'Ran it' } },
  {
    type: 'chat/error',
    turnId,
    duration: 1,
    part: { kind: 'error', error: { errorType: 'x', message: 'no' }, resumable: true },
  },
  { type: 'chat/turnResume', turnId },
  { type: 'chat/delta', turnId, partId: 'm', content: 'd' },
  { type: 'chat/turnComplete', turnId, duration: 2 },
]
const states = actions.reduce<ChatState[]>(
  (all, action) => [...all, reduceChat(all.at(-1) ?? empty, action)],
  [empty],
)

/** A short form of events: the status of a tool call, the text of a text, otherwise the kind. */
const outline = (news: ReturnType<SessionEvents['update']>) =>
  news.map((each) =>
    each.kind === 'call' ? `${each.kind} ${each.call.status}` : 'text' in each ? each.text : each.kind,
  )

test('[Z9] each event is reported once, in order, and a resumed turn begins and ends again', () => {
  const events = new SessionEvents()
  expect(states.flatMap((state) => outline(events.update(state)))).toEqual([
    'began',
    'hm',
    'a',
    'b',
    'c',
    'pending',
    'a notice',
    'call streaming',
    'call pending-confirmation',
    'call running',
    'call completed',
    'failed',
    'ended',
    'began',
    'd',
    'ended',
  ])
  expect(events.update(states.at(-1) ?? empty)).toEqual([])
})

test('[Z9] whichever states are skipped, no text and no end of a turn is lost', () => {
  for (let from = 0; from < states.length; from++)
    for (let to = from; to < states.length; to++) {
      const events = new SessionEvents()
      const seen = [...states.slice(0, from), ...states.slice(to)].map((state) => structuredClone(state))
      const news = seen.flatMap((state) => events.update(state))
      const text = news.flatMap((each) => (each.kind === 'text' ? [each.text] : [])).join('')
      expect([from, to, text]).toEqual([from, to, 'abcd'])
      expect(news.findLast(({ kind }) => kind !== 'pending')?.kind).toBe('ended')
      expect(news.filter(({ kind }) => kind === 'notice')).toHaveLength(1)
    }
})

test('[Z5.2] a call that ran and completed between two states is reported as running, then as completed', () => {
  for (let from = 0; from < states.length; from++)
    for (let to = from; to < states.length; to++) {
      const events = new SessionEvents()
      const news = [...states.slice(0, from), ...states.slice(to)].flatMap((state) => events.update(state))
      const calls = news.flatMap((each) => (each.kind === 'call' ? [each.call] : []))
      expect([from, to, ...calls.map(({ status }) => status).slice(-2)]).toEqual([
        from,
        to,
        'running',
        'completed',
      ])
      // The event `running` contains nothing of the result, which the call did not have at that time.
      expect(calls.at(-2)).toEqual({
        toolCallId: 'c1',
        toolName: 'run',
        displayName: 'Run',
        status: 'running',
        invocationMessage: 'Run it',
        confirmed: 'user-action',
      })
    }
})

test('[Z9] of the earlier turns, as many are reported as were asked for', () => {
  const three = ['t1', 't2', 't3'].reduce<ChatState>((state, id) => {
    const begun = reduceChat(state, {
      type: 'chat/turnStarted',
      turnId: id,
      startedAt: empty.modifiedAt,
      message: message(id),
    })
    return reduceChat(begun, { type: 'chat/turnComplete', turnId: id, duration: 1 })
  }, empty)
  for (const turns of [0, 1, 2, 5]) {
    const events = new SessionEvents()
    events.skip(three, turns)
    expect(events.update(three).filter(({ kind }) => kind === 'began')).toHaveLength(Math.min(turns, 3))
  }
})

/** A state in which the active turn has said this text. */
function saying(content: string): ChatState {
  const said: ChatAction = { type: 'chat/responsePart', turnId, part: { kind: 'markdown', id: 'm', content } }
  return [...actions.slice(0, 1), said].reduce(reduceChat, empty)
}

test('[Z10.4] text that a crash of the host took back and that comes again is reported once', () => {
  const events = new SessionEvents()
  const shown = ['', 'one two ', 'one ', 'one two', 'one two three'].flatMap((text) =>
    outline(events.update(saying(text))),
  )
  expect(shown).toEqual(['began', 'one two ', 'three'])
})

test('[Z10.4] other text in place of text that a crash of the host took back is reported in a new line', () => {
  const events = new SessionEvents()
  const shown = ['one two ', 'one ', 'one or', 'one or more'].flatMap((text) =>
    outline(events.update(saying(text))),
  )
  expect(shown).toEqual(['began', 'one two ', '\nor', ' more'])
})
