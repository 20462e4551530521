import type { ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { textsOf } from './turn-texts.ts'

const startedAt = '2026-01-01T00:00:00Z'
const began = Date.parse(startedAt)

function turnOf(text: string, parts: readonly object[] = [], more: Partial<Turn> = {}): Turn {
  const message = { text, origin: { kind: 'user' } }
  // Each test gives the members of a part that matter to it.
  const responseParts = parts as readonly ResponsePart[]
  return { id: 't1', startedAt, duration: 2000, state: 'complete', message, responseParts, ...more }
}

test('[Q23.1] [Q21] a turn has the texts of its message, of its answer, and of its calls', () => {
  const call = { displayName: 'Run', invocationMessage: { markdown: 'Running `ls`' }, status: 'completed' }
  const parts = [
    { kind: 'markdown', id: 'a', content: 'First.' },
    { kind: 'toolCall', toolCall: { ...call, content: [{ type: 'text', text: 'output' }] } },
    { kind: 'reasoning', id: 'b', content: 'thoughts' },
    { kind: 'inputRequest', request: { id: 'c', message: 'Which?', answers: { q: 'secret' } } },
    { kind: 'systemNotification', content: 'Note.' },
    { kind: 'error', error: { errorType: 'x', message: 'Failed.' } },
    { kind: 'later', content: 'unknown' },
  ]
  expect(textsOf(turnOf('Go', parts), 1000)).toEqual([
    { who: 'user', time: began, text: 'Go' },
    { who: 'agent', time: began + 2000, text: 'First.\n\nWhich?\n\nNote.\n\nFailed.' },
    { who: 'tool', time: began + 2000, text: 'Run: Running `ls`' },
  ])
})

test('[Q21] the message of an agent is by an agent, and empty texts are left out', () => {
  const message = { text: 'Do it', origin: { kind: 'agent' as const } }
  expect(textsOf(turnOf('', [], { message, startedAt: 'no time' }), 1000)).toEqual([
    { who: 'agent', time: 0, text: 'Do it' },
  ])
  expect(textsOf(turnOf(' \n'), 1000)).toEqual([])
})

test('[Q23] the times of texts are whole milliseconds, also if a client gives a fraction as the duration', () => {
  const parts = [{ kind: 'markdown', id: 'a', content: 'Done.' }]
  const ends = [12.5, -3].map((duration) => textsOf(turnOf('', parts, { duration }), 1000)[0]?.time)
  expect(ends).toEqual([began + 12, began])
})

test('[S-57 indexedLength] at 65,536 characters a text is whole; [S-57 indexedLength] past 65,536 the rest is left out', () => {
  const length = (count: number) => textsOf(turnOf('x'.repeat(count)), 65_536)[0]?.text.length
  expect([65_536, 65_537].map(length)).toEqual([65_536, 65_536])
})
