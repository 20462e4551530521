import { expect, test } from 'vitest'
import { HostlessChat } from '../../test/hostless-chat.ts'
import type { Agent, AgentAction } from './agent.ts'

const info = { provider: 'wrong', displayName: 'Wrong', description: '', models: [] }

/** An agent that yields the given actions. */
function yielding(...actions: readonly unknown[]): Agent {
  return {
    info,
    resumes: false,
    async *run() {
      yield* actions as readonly AgentAction[]
    },
  }
}

const part = { type: 'chat/responsePart', part: { kind: 'markdown', id: 'p', content: '' } }
const call = { type: 'chat/toolCallStart', toolCallId: 'p', toolName: 't', displayName: 'T' }

test.each([
  ['text for a missing part', 'not started', { type: 'chat/delta', partId: 'p', content: '' }],
  [
    'reasoning for a markdown part',
    'no reasoning',
    part,
    { type: 'chat/reasoning', partId: 'p', content: '' },
  ],
  ['a part twice', 'used before', part, part],
  ['a call with the id of a part', 'used before', part, call],
  ['a delta of a call that was not started', 'not started', { type: 'chat/toolCallDelta', toolCallId: 'p' }],
  ['the end of its turn', 'no agent', { type: 'chat/turnComplete', duration: 1 }],
  ['that its session is ready', 'no agent', { type: 'session/ready' }],
  ['an unknown action', 'no agent', { type: 'chat/constructor' }],
  ['an invalid action', 'markdown', { type: 'chat/responsePart', part: { kind: 'markdown' } }],
  ['undefined', 'JSON', { type: 'chat/activityChanged', activity: undefined }],
  [
    'an error',
    'thrown',
    {
      type: 'chat/responsePart',
      part: { kind: 'error', error: { errorType: 'e', message: '' } },
    },
  ],
])('[N1.1] [N1.2] [N1] the stage finds an agent that yields %s', async (_, problem, ...actions) => {
  await expect(new HostlessChat(yielding(...actions)).turn('')).rejects.toThrow(problem)
})

test('[N1] a title, text in a part, and a call are applied', async () => {
  const title = { type: 'session/titleChanged', title: 'New' }
  const other = { ...call, toolCallId: 'c' }
  const stage = new HostlessChat(
    yielding(title, part, { type: 'chat/delta', partId: 'p', content: 'x' }, other),
  )
  expect((await stage.turn('')).responseParts).toMatchObject([
    { kind: 'markdown', content: 'x' },
    { kind: 'toolCall', toolCall: { status: 'cancelled' } },
  ])
  expect(stage.session.title).toBe('New')
})
