import { join } from 'node:path'
import { fileUri } from '@atrium/protocol/file-uri'
import { expect, test } from 'vitest'
import { until } from '../../test/shells.ts'
import { acpRoom, callsOf, chat, errorOf, notesOf, textOf } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'

test('[N44] thoughts and messages are parts that grow; where no message has a name, something else ends one', async () => {
  const all = await acpRoom({ quirks: ['no-message-id'] })
  const turn = await all.turn('think a\nthink b\nsay one \nsay two\ncall c1 read Look\nsay three')
  expect(turn.responseParts).toMatchObject([
    { kind: 'reasoning', content: 'ab' },
    { kind: 'markdown', content: 'one two' },
    { kind: 'toolCall' },
    { kind: 'markdown', content: 'three' },
  ])
  expect((await (await acpRoom()).turn('say one\nsay two')).responseParts).toMatchObject([
    { content: 'one' },
    { content: 'two' },
  ])
})

test('[N44] a diff is shown to those who are asked, and stays as what was changed', async () => {
  const all = await acpRoom()
  const path = join(all.work, 'a')
  const content = [{ type: 'diff', path, oldText: 'old', newText: 'new' }]
  const turnId = all.begin(`ask c1 ${JSON.stringify({ kind: 'edit', content })}`)
  const call = await all.asked()
  const [edit] = (call.status === 'pending-confirmation' && call.edits?.items) || []
  expect(edit).toMatchObject({ before: { uri: fileUri(path) }, after: { uri: fileUri(path) } })
  const read = (uri = '') => all.ann.ask('resourceRead', { channel: 'mock:/one', uri })
  expect(await read(edit?.before?.content.uri)).toMatchObject({ data: 'old' })
  expect(await read(edit?.after?.content.uri)).toMatchObject({ data: 'new' })
  all.decide(call, true)
  const [done] = callsOf((await all.ended(turnId)).responseParts)
  expect(done).toMatchObject({ content: [{ type: 'fileEdit', before: {}, after: {} }] })
})

test('[N44] an image is kept with the session, between the words where it came', async () => {
  const all = await acpRoom({ quirks: ['no-message-id'] })
  const { responseParts } = await all.turn('say a\nimage aGVsbG8=\nsay b')
  expect(responseParts.map(({ kind }) => kind)).toEqual(['markdown', 'contentRef', 'markdown'])
  const [, part] = responseParts
  const uri = part?.kind === 'contentRef' ? part.uri : ''
  const read = await all.ann.ask('resourceRead', { channel: 'mock:/one', uri })
  expect(read).toMatchObject({ data: 'hello' })
})

test('[N44] a plan is one part, changed in its place, and stays as it was last', async () => {
  const all = await acpRoom()
  const turn = await all.turn('plan pending a;pending b\nsay on\nplan completed a;in_progress b')
  expect(turn.responseParts).toMatchObject([
    {
      toolCall: {
        displayName: 'Plan',
        status: 'completed',
        success: true,
        content: [{ type: 'text', text: '- [x] a\n- [ ] **b**' }],
      },
    },
    { kind: 'markdown', content: 'on' },
  ])
})

test('[N44] a form of the agent’s is one of the chat’s, and its answers are the agent’s again', async () => {
  const all = await acpRoom()
  const turnId = all.begin('form')
  const request = await asked(all)
  expect(request).toMatchObject({
    message: 'Tell me',
    questions: [
      { id: 'name', kind: 'text', required: true, min: 1 },
      { id: 'size', kind: 'integer', min: 1, max: 9, defaultValue: 3 },
      {
        id: 'colour',
        kind: 'single-select',
        options: [{ id: 'r', label: 'Red', recommended: true }, { id: 'b' }],
      },
      { id: 'extras', kind: 'multi-select', options: [{ id: 'x' }, { id: 'y', recommended: true }] },
      { id: 'sure', kind: 'boolean' },
    ],
  })
  const submit = (questionId: string, value: object) =>
    all.ann.dispatch(chat, {
      type: 'chat/inputAnswerChanged',
      requestId: request.id,
      questionId,
      answer: { state: 'submitted', value },
    })
  submit('name', { kind: 'text', value: 'Ann' })
  submit('colour', { kind: 'selected', value: 'b' })
  all.ann.dispatch(chat, { type: 'chat/inputCompleted', requestId: request.id, response: 'accept' })
  const answer = JSON.parse(textOf(await all.ended(turnId)).replaceAll('', '')) as object
  // What is usual and was seen counts; what nobody chose was not chosen.
  expect(answer).toEqual({ action: 'accept', content: { name: 'Ann', size: 3, colour: 'b' } })
})

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'vscode://x', 'nowhere'])(
  '[N44] %s is no page, and nobody is sent there',
  async (url) => {
    const all = await acpRoom()
    const turn = await all.turn(`url ${url}`)
    expect(errorOf(turn)?.error.message).toContain('only a page of http or https')
    expect(turn.responseParts.some(({ kind }) => kind === 'inputRequest')).toBe(false)
  },
)

test('[N44] a form that says it has no page is a form', async () => {
  const all = await acpRoom()
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const params = { sessionId: '$SESSION', mode: 'form', message: 'Who?', url: null, requestedSchema }
  const asks = { jsonrpc: '2.0', id: 'e1', method: 'elicitation/create', params }
  const turnId = all.begin(`raw ${JSON.stringify(asks)}\nanswered e1\nend end_turn`)
  const parts = () => [...all.chat.turns, all.chat.activeTurn].flatMap((each) => each?.responseParts ?? [])
  const asked = () => parts().find(({ kind }) => kind === 'inputRequest')
  await all.ann.until(() => asked() !== undefined || all.chat.turns.some(({ id }) => id === turnId))
  const { request } = asked() as { request: { id: string } }
  expect(request).toMatchObject({ message: 'Who?', questions: [{ id: 'name' }] })
  all.ann.dispatch(chat, { type: 'chat/inputCompleted', requestId: request.id, response: 'decline' })
  await all.ended(turnId)
})

test('[N44] a page to be visited is asked for as one; no is no', async () => {
  const all = await acpRoom()
  const turnId = all.begin('url https://example.com/x')
  const request = await asked(all)
  expect(request).toMatchObject({ message: 'Go there', url: 'https://example.com/x' })
  all.ann.dispatch(chat, { type: 'chat/inputCompleted', requestId: request.id, response: 'decline' })
  expect(textOf(await all.ended(turnId))).toBe('{"action":"decline"}')
})

test('[N44] what a turn used is said, and how full the agent’s memory is', async () => {
  const all = await acpRoom()
  const turn = await all.turn('usage 10 100\nsay a\nend end_turn')
  expect(turn.usage).toEqual({
    inputTokens: 7,
    outputTokens: 2,
    _meta: { 'x-atrium.context': { used: 10, size: 100, cost: { amount: 0.5, currency: 'USD' } } },
  })
})

test.each([
  ['max_tokens', /as long as it may be/],
  ['max_turn_requests', /as often as it may/],
  ['refusal', /refused to go on/],
  ['cancelled', /stopped here/],
])('[N44] why it ended before it was done (%s) is said', async (reason, words) => {
  const turn = await (await acpRoom()).turn(`say a\nend ${reason}`)
  expect(turn.state).toBe('complete')
  expect(notesOf(turn).join()).toMatch(words)
})

test('[N44] an agent that ends its turn without a word may have failed, and its last words are shown', async () => {
  const all = await acpRoom()
  const turn = await all.turn('stderr no such model\nend end_turn')
  expect(notesOf(turn)).toMatchObject([expect.stringMatching(/without a word[^]*no such model/)])
  expect(notesOf(await all.turn('say a'))).toEqual([])
  // Who was asked, and said no, knows why.
  const turnId = all.begin('ask-and-stop c1')
  all.decide(await all.asked(), false)
  expect(notesOf(await all.ended(turnId))).toEqual([])
})

test('[N44] what it says after its turn is heard by nobody', async () => {
  const all = await acpRoom()
  await all.turn('say a\nlate ghost')
  await until(() => all.agent.lines('late').length > 0)
  const turn = await all.turn('say b')
  expect([textOf(turn), all.chat.turns.map(textOf)]).toEqual(['b', ['a', 'b']])
})

test('[N44] what it says that has no meaning, or another shape, harms neither its turn nor what comes after', async () => {
  const all = await acpRoom()
  const updates: object[] = [
    { sessionUpdate: 'from_the_future', content: [] },
    {},
    { sessionUpdate: 'agent_message_chunk' },
    { sessionUpdate: 'agent_message_chunk', content: null },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'image' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: '??', mimeType: 7 } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'resource_link', uri: 5 } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'resource_link' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'resource' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'hologram' } },
    { sessionUpdate: 'tool_call' },
    {
      sessionUpdate: 'tool_call',
      toolCallId: 7,
      title: 7,
      kind: 7,
      name: 7,
      _meta: 7,
      locations: 7,
      content: 7,
    },
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'x',
      content: [null, 7, {}, { type: 'diff' }, { type: 'terminal' }],
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 'x', content: [{ type: 'content' }], locations: [null] },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'x',
      content: [{ type: 'diff', path: 'a\u0000b', newText: 7 }],
    },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'x',
      status: 'dancing',
      rawInput: 5,
      rawOutput: { a: [] },
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 'x', status: 'completed', content: { type: 'text' } },
    { sessionUpdate: 'plan' },
    { sessionUpdate: 'plan', entries: [null, 7, { content: 5 }] },
    { sessionUpdate: 'plan_update', plan: null },
    { sessionUpdate: 'usage_update', used: 'much', size: -1, cost: 'dear' },
    { sessionUpdate: 'notice' },
    { sessionUpdate: 'notice', title: 7, description: {} },
    { sessionUpdate: 'compaction_update', status: 'completed', summary: 7 },
    { sessionUpdate: 'available_commands_update', availableCommands: [null, 7, { name: 7 }] },
    { sessionUpdate: 'config_option_update', configOptions: [null, { id: 'a', options: 7 }] },
    { sessionUpdate: 'current_mode_update', currentModeId: 7 },
    { sessionUpdate: 'session_info_update', title: { a: 1 } },
  ]
  const frames = updates.map((update) => frame({ sessionId: '$SESSION', update }))
  const odd = [{ sessionId: 'nobody', update: updates[1] }, { sessionId: 7 }, null, 7, []].map(frame)
  const turn = await all.turn(['say a', ...frames, ...odd, 'garbage', 'say b'].join('\n'))
  expect([turn.state, errorOf(turn)]).toEqual(['complete', undefined])
  expect(textOf(turn)).toMatch(/^a\|.*b$/)
  expect(callsOf(turn.responseParts).filter(({ status }) => status !== 'completed')).toEqual([])
  expect(textOf(await all.turn('say next'))).toBe('next')
})

function frame(params: unknown): string {
  return `raw ${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}`
}

async function asked(all: AcpRoom) {
  const find = () => all.chat.activeTurn?.responseParts.find(({ kind }) => kind === 'inputRequest')
  await all.ann.until(() => find() !== undefined)
  const part = find()
  if (part?.kind !== 'inputRequest') throw new Error('nothing was asked')
  return part.request
}
