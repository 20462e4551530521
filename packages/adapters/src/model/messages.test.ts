import type { ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { expect, test } from 'vitest'
import { toMessages, endsInText } from './messages.ts'
import { truncateMiddle, wellFormed } from './text.ts'

const options = {
  chat: { read: () => Promise.reject(new Error('nothing is attached')) },
  vision: false,
  imageResults: false,
  maxLength: 1000,
}
const text = (content: string): ResponsePart => ({ kind: 'markdown', id: content, content })
const call = (step: number, more: object): ResponsePart => ({
  kind: 'toolCall',
  toolCall: {
    toolCallId: 'any thing/at all',
    toolName: 'list',
    displayName: 'List',
    invocationMessage: '',
    toolInput: '{}',
    _meta: { 'x-atrium': { step } },
    ...more,
    // Each test adds the fields of one status. Without them the object is not a valid state, so a cast is needed.
  } as unknown as ToolCallState,
})
const done = { status: 'completed', success: true, confirmed: 'not-needed', pastTenseMessage: 'Listed' }
const converted = async (...responseParts: readonly ResponsePart[]) =>
  (await toMessages([{ message: { text: 'go', origin: { kind: 'user' } }, responseParts }], options)).slice(1)

test('[N21.1] [N21] the calls of one step are in one message, and their results in the next', async () => {
  const messages = await converted(text('a'), call(1, done), call(1, done), call(3, done), text('b'))
  expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
    ['assistant', 3],
    ['tool', 2],
    ['assistant', 1],
    ['tool', 1],
    ['assistant', 1],
  ])
  const ids = messages.flatMap(({ content }) =>
    (typeof content === 'string' ? [] : [...content]).flatMap((part) =>
      'toolCallId' in part ? [part.toolCallId] : [],
    ),
  )
  expect(ids).toEqual(['call_1', 'call_2', 'call_1', 'call_2', 'call_3', 'call_3'])
})

test('[N21] a call without complete input is not sent, and an invalid tool name is replaced by a valid one', async () => {
  const cut = { status: 'cancelled', reason: 'skipped', toolInput: undefined }
  expect(await converted(text('a'), call(1, cut))).toHaveLength(1)
  expect(endsInText([text('a'), call(1, cut)])).toBe(true)
  expect(endsInText([text('a'), call(1, done)])).toBe(false)
  expect(endsInText([text(' ')])).toBe(false)
  const [message] = await converted(call(1, { ...done, toolName: 'my tool!', toolInput: '[1]' }))
  expect(message).toMatchObject({ content: [{ toolName: 'my_tool_', input: {} }] })
})

test('[N21] characters that providers refuse are replaced, and a long text is cut in the middle', () => {
  expect(wellFormed('a\u0000b\ud83dc😀')).toBe('a\ufffdb\ufffdc😀')
  expect(truncateMiddle('x'.repeat(10), 10)).toHaveLength(10)
  expect(truncateMiddle(`a${'x'.repeat(100)}z`, 30)).toMatch(
    /^ax+\n\[… 72 characters are left out here …\]\nx+z$/,
  )
})
