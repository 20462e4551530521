import type { Chat } from '@atrium/host/ports/agent'
import { expect, test } from 'vitest'
import { acpRoom, callsOf, chat, session, textOf } from '../../test/acp-room.ts'
import { AcpTurn } from './acp-turn.ts'
import { OutputStream } from './calls/output-stream.ts'

test('[N41.1] [N41] users see the agent’s options with its labels, and the agent gets the chosen one', async () => {
  const room = await acpRoom()
  const turnId = room.begin('ask c1 {"title":"Mend it","kind":"edit"}')
  const call = await room.pendingCall()
  expect(call).toMatchObject({
    displayName: 'Edit',
    invocationMessage: 'Mend it',
    options: [
      { id: 'agent.once', label: 'Go ahead', kind: 'approve' },
      { id: 'agent.always', label: 'Go ahead, always', kind: 'approve' },
      { id: 'agent.deny', label: 'Do not', kind: 'deny' },
    ],
  })
  room.decide(call, true, 'agent.always')
  const turn = await room.ended(turnId)
  expect(textOf(turn)).toContain('c1 always')
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', success: true }])
})

test('[N41] an agent whose option ids are those of the host makes it store no permission', async () => {
  const room = await acpRoom({ quirks: ['host-options'] })
  for (const [chosen, optionId] of [
    ['agent.once', 'atrium.session'],
    ['agent.always', 'atrium.folder'],
  ]) {
    const turnId = room.begin('ask c1')
    room.decide(await room.pendingCall(), true, chosen)
    expect(textOf(await room.ended(turnId))).toContain(`c1 ${optionId}`)
  }
  expect(room.session.config?.values['atrium.permissions']).toBeUndefined()
  expect(room.ann.state('ahp-root://')).toMatchObject({ config: { values: {} } })
})

test('[N41.1] [N41] a denied call does not run, the agent gets its own deny option, and the turn goes on', async () => {
  const room = await acpRoom()
  const turnId = room.begin('do c1 effects\nask c2\nsay on')
  room.decide(await room.pendingCall(), false)
  room.decide(await room.pendingCall(({ toolCallId }) => toolCallId.endsWith('-2')), false)
  const turn = await room.ended(turnId)
  expect([textOf(turn), room.agent.lines('effects')]).toEqual(['c2 no|on', []])
  expect(callsOf(turn.responseParts).map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
})

test('[N41.3] [N41] no stored permission answers a question of the agent, whatever the agent calls its tool', async () => {
  const room = await acpRoom()
  const permissions = ['edit', 'write', 'run', 'execute', 'other'].map((tool) => ({ id: tool, tool }))
  room.ann.dispatch(session, {
    type: 'session/configChanged',
    config: { 'atrium.permissions': permissions },
  })
  for (const [at, more] of ['{"kind":"edit"}', '{"name":"write"}', '{"name":"run"}', '{}'].entries()) {
    const turnId = room.begin(`ask c${at} ${more}`)
    room.decide(await room.pendingCall(), true)
    const turn = await room.ended(turnId)
    expect(textOf(turn)).toContain(`c${at} once`)
    expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', confirmed: 'user-action' }])
  }
})

test('[N41.3] [N41] a question without choices of the agent offers none that stores a permission', async () => {
  const room = await acpRoom({ quirks: ['no-options'] })
  const turnId = room.begin('ask c1 {"name":"run"}')
  const call = await room.pendingCall()
  expect('options' in call && call.options?.map(({ id }) => id)).toEqual([
    'atrium.once',
    'atrium.deny',
    'atrium.deny-why',
  ])
  room.decide(call, false)
  await room.ended(turnId)
})

test('[N41] an allowed call that asks for something else needs another answer', async () => {
  const room = await acpRoom()
  const turnId = room.begin('allowed c1 {"title":"Look"}\nask c1 {"title":"Look outside"}')
  room.decide(await room.pendingCall(), true)
  const again = await room.pendingCall(({ invocationMessage }) => invocationMessage === 'Look outside')
  room.decide(again, false)
  expect(textOf(await room.ended(turnId))).toContain('c1 no')
})

test('[N41.2] [N41] an agent that goes on with a pending call does not answer the question', async () => {
  const room = await acpRoom()
  const statusUpdate = (status: string) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'session/update',
      params: {
        sessionId: '$SESSION',
        update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status },
      },
    })
  const begun = room.begin(`impatient c1 ${statusUpdate('in_progress')}`)
  const call = await room.pendingCall()
  await room.ann.until(() => JSON.stringify(room.chat.activeTurn).includes('went on'))
  const open = callsOf(room.chat.activeTurn?.responseParts ?? [])
  expect(open).toMatchObject([{ status: 'pending-confirmation' }])
  room.decide(call, false)
  expect(textOf(await room.ended(begun))).toBe('went on|c1 no')
  // The agent completes the call before a user decides. So the outcome of its permission request is `cancelled`.
  const turn = await room.turn(`impatient c1 ${statusUpdate('completed')}`)
  expect(textOf(turn)).toBe('went on|c1 cancelled')
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', confirmed: 'not-needed' }])
})

test('[N41.2] [N41] a question that is open at the end of its turn is cancelled', async () => {
  const room = await acpRoom()
  const turn = await room.turn('ask-and-end c1')
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'cancelled', reason: 'skipped' }])
  await room.turn('say next')
  expect(room.agent.lines('answers')).toEqual(['c1 cancelled'])
})

test('[N41.2] [N41] two concurrent questions need two answers, and two about the same call need one', async () => {
  const room = await acpRoom()
  const two = room.begin('ask-both c1 c2')
  const second = await room.pendingCall(({ toolCallId }) => toolCallId.endsWith('-2'))
  const first = callsOf(room.chat.activeTurn?.responseParts ?? []).find((call) => call !== second)
  room.decide(second, true)
  if (first) room.decide(first, false)
  expect(textOf(await room.ended(two))).toContain('no and once')
  const one = room.begin('ask-both c3 c3')
  await room.ann.until(() =>
    callsOf(room.chat.activeTurn?.responseParts ?? []).some((c) => c._meta?.['x-atrium.asked'] === 2),
  )
  room.decide(await room.pendingCall(), true)
  expect(textOf(await room.ended(one))).toContain('once and once')
})

test('[N42] a call is known from its first message of any kind, and is closed at the end of its turn', async () => {
  const room = await acpRoom({ quirks: ['never-completes'] })
  const turn = await room.turnAllowingAll(
    'ask c1 {"title":"Unannounced"}\nchange c2 {"title":"Only changed","status":"in_progress"}\ncall c3 read Open',
  )
  const problem = { message: 'the agent ended its turn without reporting the result' }
  expect(callsOf(turn.responseParts)).toMatchObject(
    ['Unannounced', 'Only changed', 'Open'].map((invocationMessage) => ({
      invocationMessage,
      status: 'completed',
      success: false,
      error: problem,
    })),
  )
})

test('[N42] a repeated id of the agent is another call, in the same turn and in the next', async () => {
  const room = await acpRoom()
  const used = 'call c1 read One\nchange c1 {"status":"completed"}'
  for (const text of [`${used}\n${used}\nask c1 {"title":"Asks"}`, used])
    for (const call of callsOf((await room.turnAllowingAll(text)).responseParts))
      expect(call).toMatchObject({ status: 'completed', success: true })
  expect(callsOf(room.chat.turns[0]?.responseParts ?? [])).toHaveLength(3)
  // An update that comes after the end of a call does not open the call again.
  const turn = await room.turn(`${used}\nchange c1 {"status":"in_progress","title":"Again"}`)
  expect(callsOf(turn.responseParts)).toMatchObject([{ invocationMessage: 'One', success: true }])
})

test('[N42] a turn that is resumed repeatedly gives no id twice', async () => {
  const part = (n: number) => ({ kind: 'markdown', id: `t-${n}`, content: '' })
  // The second part is a notice, which has no id. The third part was lost, so the next part has the number 4.
  const responseParts = [part(1), { kind: 'systemNotification', content: '' }, part(4)]
  // This chat has only the members from which new ids are made.
  const resumed = {
    turnId: 't',
    state: { turns: [], activeTurn: { id: 't', responseParts } },
  } as unknown as Chat
  const output = new OutputStream({ pause: () => {}, resume: () => {} })
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'a' } }
  new AcpTurn(resumed, output, '/').update(update)
  output.end()
  for await (const action of output.actions()) expect(action).toMatchObject({ part: { id: 't-5' } })
})

test('[N42] input that grows is streamed, and new content replaces the content before', async () => {
  const room = await acpRoom()
  const item = (text: string) => ({ type: 'content', content: { type: 'text', text } })
  const lines = [
    'call c1 fetch Get',
    'change c1 {"rawInput":"ab"}',
    'change c1 {"rawInput":"abc"}',
    `change c1 ${JSON.stringify({ status: 'in_progress', content: [item('one')] })}`,
    `change c1 ${JSON.stringify({ content: [item('two')] })}`,
    'change c1 {"status":"failed"}',
  ]
  const turn = await room.turn(lines.join('\n'))
  expect(callsOf(turn.responseParts)).toMatchObject([
    { toolInput: 'abc', success: false, content: [{ type: 'text', text: 'two' }], error: { message: 'two' } },
  ])
  const deltas = room.ann.envelopes.flatMap(({ channel, action }) =>
    channel === chat && action.type === 'chat/toolCallDelta' && 'content' in action ? [action.content] : [],
  )
  expect(deltas).toEqual(['ab', 'c'])
})
