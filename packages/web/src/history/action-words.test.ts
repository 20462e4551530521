import { chatActions } from '@atrium/protocol/chat/actions'
import { expect, test } from 'vitest'
import { actionWords } from './action-words.ts'

const words = (action: { readonly type: string }) =>
  actionWords({ channel: 'ahp-chat:/c', serverSeq: 1, action })

// The host does not show drafts, and does not store pages of older turns.
const unseen = new Set(['chat/draftChanged', 'chat/turnsLoaded'])

test.each(Object.keys(chatActions).filter((type) => !unseen.has(type)))(
  '[U27] the history has words of its own for %s',
  (type) => {
    expect(words({ type })).not.toBe('Something else changed')
    expect(words({ type })).not.toContain(type)
  },
)

test.each([
  [{ type: 'chat/toolCallConfirmed', approved: true }, 'A tool call was allowed'],
  [{ type: 'chat/toolCallConfirmed', approved: false }, 'A tool call was denied'],
  [{ type: 'chat/toolCallConfirmed' }, 'A tool call was decided'],
  [{ type: 'chat/toolCallResultConfirmed', approved: false }, 'The result of a tool call was denied'],
  [{ type: 'chat/inputCompleted', response: 'accept' }, 'The questions were answered'],
  [{ type: 'chat/inputCompleted', response: 'decline' }, 'The questions were declined'],
  [{ type: 'chat/inputCompleted', response: 'cancel' }, 'The questions were cancelled'],
  [{ type: 'chat/inputCompleted' }, 'The questions were closed'],
  [{ type: 'chat/pendingMessageSet', kind: 'queued' }, 'A message was queued'],
  [{ type: 'chat/pendingMessageSet', kind: 'steering' }, 'A message was sent to go into a turn'],
  [{ type: 'chat/pendingMessageSet' }, 'A message began to wait'],
  [{ type: 'chat/ofTheFuture' }, 'Something else changed'],
])('[U27] the history shows %j as "%s"', (action, expected) => {
  expect(words(action)).toBe(expected)
})
