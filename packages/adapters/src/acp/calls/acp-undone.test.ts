import { expect, test } from 'vitest'
import { acpRoom, callsOf, errorOf, textOf } from '../../../test/acp-room.ts'

test('[N46.4] [N46] a turn whose agent forgets what was allowed after a crash of the host fails, and says what was not done', async () => {
  const quirks = ['forgets']
  const before = await acpRoom({ quirks })
  const turnId = before.begin('do c1 effects\nsay b')
  const asked = await before.pendingCall()
  const room = await before.restart('crash', { quirks })
  room.decide(asked, true)
  const turn = await room.ended(turnId)
  expect(turn.state).toBe('error')
  expect(errorOf(turn)).toMatchObject({
    resumable: true,
    error: {
      errorType: 'undone',
      message: expect.stringContaining('without doing what was allowed: "Do it"'),
    },
  })
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', success: false }])
  expect(room.agent.lines('effects')).toEqual([])
  // The text of the agent is kept.
  expect(textOf(turn)).toBe('Anything else?')
})

test('[N46.4] [N46] the agent is told what was allowed, with the whole input, and that nothing of it is done', async () => {
  const before = await acpRoom({ quirks: ['forgets'] })
  const turnId = before.begin('ask c1 {"title":"Bash","rawInput":{"command":"make all"}}')
  const asked = await before.pendingCall()
  const room = await before.restart('crash', { quirks: ['forgets'] })
  room.decide(asked, true)
  await room.ended(turnId)
  const [, resumed = ''] = room.agent.lines('prompts')
  expect(resumed).toContain('Bash: make all. Nothing of it is done. Do it now.')
})

test('[N46] a turn whose agent was denied a call after a crash of the host is complete', async () => {
  const before = await acpRoom({ quirks: ['forgets'] })
  const turnId = before.begin('do c1 effects')
  const asked = await before.pendingCall()
  const room = await before.restart('crash', { quirks: ['forgets'] })
  room.decide(asked, false)
  expect((await room.ended(turnId)).state).toBe('complete')
  expect(room.agent.lines('effects')).toEqual([])
})

test('[N46.3] [N46] a call that the agent reports before it asks again is answered by the earlier decision, once', async () => {
  const before = await acpRoom()
  const shown = '{"title":"Bash","kind":"execute","rawInput":{"command":"make all"}}'
  const turnId = before.begin(`begun c1 ${shown}\nbegun c2 ${shown}`)
  const asked = await before.pendingCall()
  const room = await before.restart('crash')
  room.decide(asked, true)
  const again = await room.pendingCall(({ toolCallId }) => toolCallId !== asked.toolCallId)
  expect(callsOf(room.chat.activeTurn?.responseParts ?? [])).toMatchObject([
    { toolCallId: asked.toolCallId, status: 'completed' },
    { status: 'pending-confirmation' },
  ])
  room.decide(again, false)
  expect(textOf(await room.ended(turnId))).toBe('c1 once|c2 no')
})

test('[N46] an input that is streamed as text is compared with the earlier call when its end has come', async () => {
  const text = JSON.stringify({ command: 'make all' })
  const content = (end: number) => [{ type: 'content', content: { type: 'text', text: text.slice(0, end) } }]
  const change = (end: number) =>
    `change c1 ${JSON.stringify({ kind: 'execute', title: 'Bash', status: 'in_progress', content: content(end) })}`
  const before = await acpRoom({ quirks: ['repeats'] })
  const turnId = before.begin(`${change(4)}\n${change(text.length)}\nask c1 {"title":"Bash"}`)
  const asked = await before.pendingCall()
  const room = await before.restart('crash', { quirks: ['repeats'] })
  room.decide(asked, true)
  const turn = await room.ended(turnId)
  expect([turn.state, textOf(turn), callsOf(turn.responseParts).length]).toEqual(['complete', 'c1 once', 1])
})
