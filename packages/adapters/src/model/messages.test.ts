import type { ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { expect, test } from 'vitest'
import { conversation, endsInText } from './messages.ts'
import { clipped, sayable } from './text.ts'

const reading = {
  chat: { read: () => Promise.reject(new Error('nothing is attached')) },
  vision: false,
  most: 1000,
}
const said = (content: string): ResponsePart => ({ kind: 'markdown', id: content, content })
const called = (step: number, more: object): ResponsePart => ({
  kind: 'toolCall',
  toolCall: {
    toolCallId: 'any thing/at all',
    toolName: 'list',
    displayName: 'List',
    invocationMessage: '',
    toolInput: '{}',
    _meta: { 'x-atrium': { step } },
    ...more,
  } as unknown as ToolCallState,
})
const done = { status: 'completed', success: true, confirmed: 'not-needed', pastTenseMessage: 'Listed' }
const told = async (...responseParts: readonly ResponsePart[]) =>
  (await conversation([{ message: { text: 'go', origin: { kind: 'user' } }, responseParts }], reading)).slice(
    1,
  )

test('[N21] calls of one step are one message, and their results the next', async () => {
  const messages = await told(said('a'), called(1, done), called(1, done), called(3, done), said('b'))
  expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
    ['assistant', 3],
    ['tool', 2],
    ['assistant', 1],
    ['tool', 1],
    ['assistant', 1],
  ])
  const ids = messages.flatMap(({ content }) =>
    (content as readonly object[]).flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
  )
  expect(ids).toEqual(['call_1', 'call_2', 'call_1', 'call_2', 'call_3', 'call_3'])
})

test('[N21] what was cut off before it was a call never was one; a strange one is sent under a name that can be', async () => {
  const cut = { status: 'cancelled', reason: 'skipped', toolInput: undefined }
  expect(await told(said('a'), called(1, cut))).toHaveLength(1)
  expect(endsInText([said('a'), called(1, cut)])).toBe(true)
  expect(endsInText([said('a'), called(1, done)])).toBe(false)
  expect(endsInText([said(' ')])).toBe(false)
  const [call] = await told(called(1, { ...done, toolName: 'my tool!', toolInput: '[1]' }))
  expect(call).toMatchObject({ content: [{ toolName: 'my_tool_', input: {} }] })
})

test('[N21] what no vendor takes is made harmless, and what is too long is cut in the middle', () => {
  expect(sayable('a\u0000b\ud83dc😀')).toBe('a\ufffdb\ufffdc😀')
  expect(clipped('x'.repeat(10), 10)).toHaveLength(10)
  expect(clipped(`a${'x'.repeat(100)}z`, 30)).toMatch(/^ax+\n\[… 72 characters are left out here …\]\nx+z$/)
})
