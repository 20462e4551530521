import type { ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { expect, test } from 'vitest'
import { callWords, partGroups } from './call-groups.ts'

function call(toolName: string, type = 'text'): ResponsePart {
  const toolCall = { toolName, status: 'completed', success: true, content: [{ type }] }
  // The groups read only these members: hence the cast.
  return { kind: 'toolCall', toolCall } as unknown as ResponsePart
}

const words = (parts: readonly ResponsePart[], active = false) =>
  partGroups(parts, active).map(({ at, calls }) => (calls ? callWords(calls) : at))
const said: ResponsePart = { kind: 'markdown', id: 'm', content: 'said' }

test('[U56] finished calls in a row are one line, as soon as they are not the last ones of an active turn', () => {
  const parts = [said, call('read'), call('read'), call('run'), said, call('read')]
  expect(words(parts)).toEqual([0, 'Read 2 files, ran 1 command', 4, 5])
  expect(words(parts, true)).toEqual([0, 'Read 2 files, ran 1 command', 4, 5])
  expect(words(parts.slice(0, 4), true)).toEqual([0, 1, 2, 3])
})

test('[U56] two calls, and calls whose results people look at, stay as they are', () => {
  expect(words([call('read'), call('read'), said])).toEqual([0, 1, 2])
  expect(words([call('read'), call('edit', 'fileEdit'), call('read'), call('read')])).toEqual([0, 1, 2, 3])
})

test('[U56] calls of unknown kinds are counted', () => {
  const calls = partGroups([call('think'), call('think'), call('fetch')], false)[0]?.calls as ToolCallState[]
  expect(callWords(calls)).toBe('2 calls, fetched 1 page')
})
