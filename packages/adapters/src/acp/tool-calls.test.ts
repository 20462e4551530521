import { expect, test } from 'vitest'
import { acpRoom, callsOf, chat, session, textOf } from '../../test/acp-room.ts'

test('[N41] people see the agent’s own choices by its own words, and it hears which one they took', async () => {
  const all = await acpRoom()
  const turnId = all.begin('ask c1 {"title":"Mend it","kind":"edit"}')
  const call = await all.asked()
  expect(call).toMatchObject({
    displayName: 'Edit',
    invocationMessage: 'Mend it',
    options: [
      { id: 'agent.once', label: 'Go ahead', kind: 'approve' },
      { id: 'agent.always', label: 'Go ahead, always', kind: 'approve' },
      { id: 'agent.deny', label: 'Do not', kind: 'deny' },
    ],
  })
  all.decide(call, true, 'agent.always')
  const turn = await all.ended(turnId)
  expect(textOf(turn)).toContain('c1 always')
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', success: true }])
})

test('[N41] an agent whose choices are called as the host’s makes it remember nothing', async () => {
  const all = await acpRoom({ quirks: ['host-options'] })
  for (const [chosen, optionId] of [
    ['agent.once', 'atrium.session'],
    ['agent.always', 'atrium.folder'],
  ]) {
    const turnId = all.begin('ask c1')
    all.decide(await all.asked(), true, chosen)
    expect(textOf(await all.ended(turnId))).toContain(`c1 ${optionId}`)
  }
  expect(all.session.config?.values['atrium.permissions']).toBeUndefined()
  expect(all.ann.state('ahp-root://')).toMatchObject({ config: { values: {} } })
})

test('[N41] what is denied is not done, and the agent hears its own no; the turn goes on', async () => {
  const all = await acpRoom()
  const turnId = all.begin('do c1 deeds\nask c2\nsay on')
  all.decide(await all.asked(), false)
  all.decide(await all.asked(({ toolCallId }) => toolCallId.endsWith('-2')), false)
  const turn = await all.ended(turnId)
  expect([textOf(turn), all.agent.lines('deeds')]).toEqual(['c2 no|on', []])
  expect(callsOf(turn.responseParts).map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
})

test('[N41] what was allowed for the session is answered by the setting, with the narrowest yes', async () => {
  const all = await acpRoom()
  const permission = { id: 'p1', tool: 'edit' }
  all.ann.dispatch(session, { type: 'session/configChanged', config: { 'atrium.permissions': [permission] } })
  const turn = await all.turn('ask c1 {"kind":"edit"}')
  expect(textOf(turn)).toContain('c1 once')
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', confirmed: 'setting' }])
})

test('[N41] a call that was allowed and asks again, for something else, is asked for again', async () => {
  const all = await acpRoom()
  const turnId = all.begin('allowed c1 {"title":"Look"}\nask c1 {"title":"Look outside"}')
  all.decide(await all.asked(), true)
  const again = await all.asked(({ invocationMessage }) => invocationMessage === 'Look outside')
  all.decide(again, false)
  expect(textOf(await all.ended(turnId))).toContain('c1 no')
})

test('[N41] an agent that goes on with a call while people are asked has not been allowed to', async () => {
  const all = await acpRoom()
  const late = (status: string) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'session/update',
      params: {
        sessionId: '$SESSION',
        update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status },
      },
    })
  const begun = all.begin(`impatient c1 ${late('in_progress')}`)
  const call = await all.asked()
  await all.ann.until(() => JSON.stringify(all.chat.activeTurn).includes('went on'))
  const open = callsOf(all.chat.activeTurn?.responseParts ?? [])
  expect(open).toMatchObject([{ status: 'pending-confirmation' }])
  all.decide(call, false)
  expect(textOf(await all.ended(begun))).toBe('went on|c1 no')
  // One that has done it already is told that nothing was decided.
  const turn = await all.turn(`impatient c1 ${late('completed')}`)
  expect(textOf(turn)).toBe('went on|c1 cancelled')
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', confirmed: 'not-needed' }])
})

test('[N41] a question that the agent leaves open goes with its turn, and was not answered', async () => {
  const all = await acpRoom()
  const turn = await all.turn('ask-and-end c1')
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'cancelled', reason: 'skipped' }])
  await all.turn('say next')
  expect(all.agent.lines('answers')).toEqual(['c1 cancelled'])
})

test('[N41] two questions at once are answered each by its own answer, and two about one call by one', async () => {
  const all = await acpRoom()
  const two = all.begin('ask-both c1 c2')
  const second = await all.asked(({ toolCallId }) => toolCallId.endsWith('-2'))
  const first = callsOf(all.chat.activeTurn?.responseParts ?? []).find((call) => call !== second)
  all.decide(second, true)
  if (first) all.decide(first, false)
  expect(textOf(await all.ended(two))).toContain('no and once')
  const one = all.begin('ask-both c3 c3')
  await all.ann.until(() =>
    callsOf(all.chat.activeTurn?.responseParts ?? []).some((c) => c._meta?.['x-atrium.asked'] === 2),
  )
  all.decide(await all.asked(), true)
  expect(textOf(await all.ended(one))).toContain('once and once')
})

test('[N42] a call is known from its first word, whatever that is, and is closed with the turn', async () => {
  const all = await acpRoom({ quirks: ['never-completes'] })
  const turn = await all.allowing(
    'ask c1 {"title":"Unannounced"}\nchange c2 {"title":"Only changed","status":"in_progress"}\ncall c3 read Open',
  )
  const problem = { message: 'the agent ended its turn without saying how this went' }
  expect(callsOf(turn.responseParts)).toMatchObject(
    ['Unannounced', 'Only changed', 'Open'].map((invocationMessage) => ({
      invocationMessage,
      status: 'completed',
      success: false,
      error: problem,
    })),
  )
})

test('[N42] a name that was used before is another call: in the same turn, and in the next', async () => {
  const all = await acpRoom()
  const used = 'call c1 read One\nchange c1 {"status":"completed"}'
  for (const text of [`${used}\n${used}\nask c1 {"title":"Asks"}`, used])
    for (const call of callsOf((await all.allowing(text)).responseParts))
      expect(call).toMatchObject({ status: 'completed', success: true })
  expect(callsOf(all.chat.turns[0]?.responseParts ?? [])).toHaveLength(3)
  // What comes after the end of a call does not open it again.
  const turn = await all.turn(`${used}\nchange c1 {"status":"in_progress","title":"Again"}`)
  expect(callsOf(turn.responseParts)).toMatchObject([{ invocationMessage: 'One', success: true }])
})

test('[N42] input that grows is shown as it grows; what a call shows takes the place of what it showed', async () => {
  const all = await acpRoom()
  const item = (text: string) => ({ type: 'content', content: { type: 'text', text } })
  const lines = [
    'call c1 fetch Get',
    'change c1 {"rawInput":"ab"}',
    'change c1 {"rawInput":"abc"}',
    `change c1 ${JSON.stringify({ status: 'in_progress', content: [item('one')] })}`,
    `change c1 ${JSON.stringify({ content: [item('two')] })}`,
    'change c1 {"status":"failed"}',
  ]
  const turn = await all.turn(lines.join('\n'))
  expect(callsOf(turn.responseParts)).toMatchObject([
    { toolInput: 'abc', success: false, content: [{ type: 'text', text: 'two' }], error: { message: 'two' } },
  ])
  const deltas = all.ann.envelopes.flatMap(({ channel, action }) =>
    channel === chat && action.type === 'chat/toolCallDelta'
      ? [(action as unknown as { content: string }).content]
      : [],
  )
  expect(deltas).toEqual(['ab', 'c'])
})
