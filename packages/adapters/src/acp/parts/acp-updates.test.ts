import { expect, test } from 'vitest'
import { acpRoom, noticesOf } from '../../../test/acp-room.ts'

test('[N44.6] the summary of a compaction is shown once, whether it comes whole or in chunks', async () => {
  const room = await acpRoom({ quirks: ['raw-updates'] })
  const block = (text: string) => ({ type: 'text', text })
  const update = (status: string, more: object) => ({ sessionUpdate: 'compaction_update', status, ...more })
  const chunk = (text: string) => ({ sessionUpdate: 'compaction_summary_chunk', content: block(text) })
  const updates: readonly object[] = [
    { compactionId: 'a', ...update('in_progress', {}) },
    { compactionId: 'a', ...chunk('We built ') },
    { compactionId: 'a', ...chunk('a boat.') },
    { compactionId: 'a', ...update('completed', {}) },
    { compactionId: 'b', ...update('completed', { summary: [block('Then '), block('we sailed.')] }) },
    { compactionId: 7, ...update('in_progress', { summary: [null, 7, {}], error: {} }) },
    { sessionUpdate: 'compaction_summary_chunk', compactionId: 7, content: 7 },
    { compactionId: 'c', ...update('failed', { error: 'The model was busy.' }) },
  ]
  const turn = await room.turn(
    ['say a', ...updates.map((each) => frame({ sessionId: '$SESSION', update: each }))].join('\n'),
  )
  expect(noticesOf(turn)).toEqual([
    'The agent has compacted its context. We built a boat.',
    'The agent has compacted its context. Then we sailed.',
    'The agent could not compact its context. The model was busy.',
  ])
})

test('[N44.2] an agent is told that it may name its plans, and a plan that it withdraws is closed', async () => {
  const room = await acpRoom()
  const plan = (update: object) => frame({ sessionId: '$SESSION', update })
  const entries = [{ content: 'a', status: 'completed', priority: 'low' }]
  const turn = await room.turn(
    [
      plan({ sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'one', entries } }),
      plan({ sessionUpdate: 'plan_update', plan: { type: 'file', planId: 'two', uri: 'file:///p/plan.md' } }),
      plan({ sessionUpdate: 'plan_removed', planId: 'one' }),
      plan({ sessionUpdate: 'plan_removed', planId: 7 }),
    ].join('\n'),
  )
  expect(turn.responseParts).toMatchObject([
    { toolCall: { pastTenseMessage: 'Plan, withdrawn', content: [{ text: '- [x] a' }] } },
    { toolCall: { pastTenseMessage: 'Plan', content: [{ text: 'The plan is in file:///p/plan.md.' }] } },
  ])
  const [initialize = '{}'] = room.agent.lines('initialize')
  expect(JSON.parse(initialize)).toMatchObject({ params: { clientCapabilities: { plan: {} } } })
})

test('[N44.7] a page that the agent has seen to be done is closed for users, and the agent goes on', async () => {
  const room = await acpRoom()
  const turn = await room.turn('visited https://example.com/x')
  expect(turn.responseParts).toMatchObject([
    { kind: 'inputRequest', request: { url: 'https://example.com/x' }, response: 'cancel' },
    { kind: 'markdown', content: '{"action":"accept"}' },
  ])
})

function frame(params: object): string {
  return `raw ${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}`
}
