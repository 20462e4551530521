import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileUri } from '@atrium/protocol/file-uri'
import { expect, test } from 'vitest'
import { until } from '../../test/shells.ts'
import { acpRoom, callsOf, chat, errorOf, noticesOf, textOf } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'

test('[N44] thoughts and messages are parts that grow, and without message ids other content ends a part', async () => {
  const room = await acpRoom({ quirks: ['no-message-id'] })
  const turn = await room.turn('think a\nthink b\nsay one \nsay two\ncall c1 read Look\nsay three')
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

test('[N44] a diff is shown as an edit in the question and in the completed call', async () => {
  const room = await acpRoom()
  const path = join(room.folder, 'a')
  const content = [{ type: 'diff', path, oldText: 'old', newText: 'new' }]
  const turnId = room.begin(`ask c1 ${JSON.stringify({ kind: 'edit', content })}`)
  const call = await room.pendingCall()
  const [edit] = (call.status === 'pending-confirmation' && call.edits?.items) || []
  expect(edit).toMatchObject({ before: { uri: fileUri(path) }, after: { uri: fileUri(path) } })
  const read = (uri = '') => room.ann.ask('resourceRead', { channel: 'mock:/one', uri })
  expect(await read(edit?.before?.content.uri)).toMatchObject({ data: 'old' })
  expect(await read(edit?.after?.content.uri)).toMatchObject({ data: 'new' })
  room.decide(call, true)
  const [done] = callsOf((await room.ended(turnId)).responseParts)
  expect(done).toMatchObject({ content: [{ type: 'fileEdit', before: {}, after: {} }] })
})

test.each([[null], [''], [undefined]])(
  '[N44.1] a diff whose old text is %j is a new file',
  async (oldText) => {
    const room = await acpRoom()
    const content = [{ type: 'diff', path: join(room.folder, 'a'), oldText, newText: 'new' }]
    room.begin(`ask c1 ${JSON.stringify({ kind: 'edit', content })}`)
    const call = await room.pendingCall()
    const [edit = {}] = (call.status === 'pending-confirmation' && call.edits?.items) || []
    expect(Object.keys(edit)).toEqual(['after'])
  },
)

test('[N44] an image is stored with the session, and its part keeps its place between the texts', async () => {
  const room = await acpRoom({ quirks: ['no-message-id'] })
  const { responseParts } = await room.turn('say a\nimage aGVsbG8=\nsay b')
  expect(responseParts.map(({ kind }) => kind)).toEqual(['markdown', 'contentRef', 'markdown'])
  const [, part] = responseParts
  const uri = part?.kind === 'contentRef' ? part.uri : ''
  const read = await room.ann.ask('resourceRead', { channel: 'mock:/one', uri })
  expect(read).toMatchObject({ data: 'hello' })
})

test('[N44] a plan is one part that changes in place, and keeps its last content', async () => {
  const room = await acpRoom()
  const turn = await room.turn('plan pending a;pending b\nsay on\nplan completed a;in_progress b')
  expect(turn.responseParts).toMatchObject([
    {
      toolCall: {
        displayName: 'Plan',
        status: 'completed',
        success: true,
        pastTenseMessage: 'Plan: 1 of 2 done',
        content: [{ type: 'text', text: '- [x] a\n- [ ] **b**' }],
        _meta: {
          'x-atrium': {
            plan: {
              steps: [
                { content: 'a', status: 'completed' },
                { content: 'b', status: 'in_progress' },
              ],
            },
          },
        },
      },
    },
    { kind: 'markdown', content: 'on' },
  ])
})

test('[N44.2] a plan that is Markdown, and one that is long, has no steps of its own', async () => {
  const room = await acpRoom()
  const plan = { type: 'markdown', planId: 'p', content: '- [ ] a' }
  const update = { sessionUpdate: 'plan_update', plan }
  const { responseParts } = await room.turn(
    [
      `raw ${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: '$SESSION', update } })}`,
      `plan pending ${'x'.repeat(30_000)}`,
    ].join('\n'),
  )
  expect(responseParts).toMatchObject([
    { toolCall: { pastTenseMessage: 'Plan', _meta: { 'x-atrium': { plan: { steps: [] } } } } },
    { toolCall: { pastTenseMessage: 'Plan: 0 of 1 done', _meta: { 'x-atrium': { plan: {} } } } },
  ])
})

test('[N44.1] stored content keeps the name that the agent gave it', async () => {
  const room = await acpRoom()
  const content = { type: 'resource', resource: { uri: 'mem:/out/report%20one.zip', blob: 'aGk=' } }
  const update = { sessionUpdate: 'agent_message_chunk', content }
  const { responseParts } = await room.turn(
    `raw ${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: '$SESSION', update } })}`,
  )
  expect(responseParts).toMatchObject([
    { kind: 'contentRef', _meta: { 'x-atrium': { name: 'report one.zip' } } },
  ])
})

test('[N44.3] [N44] a form of the agent is an input request of the chat, and the agent gets the answers', async () => {
  const room = await acpRoom()
  const turnId = room.begin('form')
  const request = await inputRequest(room)
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
    room.ann.dispatch(chat, {
      type: 'chat/inputAnswerChanged',
      requestId: request.id,
      questionId,
      answer: { state: 'submitted', value },
    })
  submit('name', { kind: 'text', value: 'Ann' })
  submit('colour', { kind: 'selected', value: 'b' })
  room.ann.dispatch(chat, { type: 'chat/inputCompleted', requestId: request.id, response: 'accept' })
  const answer: object = JSON.parse(textOf(await room.ended(turnId)).replaceAll('', ''))
  // The defaults of `size` and `extras` count, because the form showed them.
  expect(answer).toEqual({ action: 'accept', content: { name: 'Ann', size: 3, colour: 'b', extras: ['y'] } })
})

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'vscode://x', 'nowhere'])(
  '[N44.3] [N44] %s is refused: it is no http or https URL',
  async (url) => {
    const room = await acpRoom()
    const turn = await room.turn(`url ${url}`)
    expect(errorOf(turn)?.error.message).toContain('only http and https URLs')
    expect(turn.responseParts.some(({ kind }) => kind === 'inputRequest')).toBe(false)
  },
)

test('[N44] a form with a null URL is a form', async () => {
  const room = await acpRoom()
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const params = { sessionId: '$SESSION', mode: 'form', message: 'Who?', url: null, requestedSchema }
  const request = { jsonrpc: '2.0', id: 'e1', method: 'elicitation/create', params }
  const turnId = room.begin(`raw ${JSON.stringify(request)}\nanswered e1\nend end_turn`)
  const parts = () => [...room.chat.turns, room.chat.activeTurn].flatMap((each) => each?.responseParts ?? [])
  const inputPart = () => parts().find((part) => part.kind === 'inputRequest')
  await room.ann.until(() => inputPart() !== undefined || room.chat.turns.some(({ id }) => id === turnId))
  expect(inputPart()).toMatchObject({ request: { message: 'Who?', questions: [{ id: 'name' }] } })
  const requestId = inputPart()?.request.id ?? ''
  room.ann.dispatch(chat, { type: 'chat/inputCompleted', requestId, response: 'decline' })
  await room.ended(turnId)
})

test('[N44.3] [N44] a URL to open is an input request with that URL, and the agent gets a refusal', async () => {
  const room = await acpRoom()
  const turnId = room.begin('url https://example.com/x')
  const request = await inputRequest(room)
  expect(request).toMatchObject({ message: 'Go there', url: 'https://example.com/x' })
  room.ann.dispatch(chat, { type: 'chat/inputCompleted', requestId: request.id, response: 'decline' })
  expect(textOf(await room.ended(turnId))).toBe('{"action":"decline"}')
})

test('[N44.4] [N44] the usage of a turn is reported, with the size of the agent’s context', async () => {
  const room = await acpRoom()
  const turn = await room.turn('usage 10 100\nsay a\nend end_turn')
  expect(turn.usage).toEqual({
    inputTokens: 7,
    outputTokens: 2,
    _meta: { 'x-atrium.context': { used: 10, size: 100, cost: { amount: 0.5, currency: 'USD' } } },
  })
})

test.each([
  ['max_tokens', /maximum length/],
  ['max_turn_requests', /maximum number of model requests/],
  ['refusal', /refused to go on/],
  ['cancelled', /stopped here/],
])('[N44.4] [N44] an early end (%s) is reported with its reason', async (reason, notice) => {
  const turn = await (await acpRoom()).turn(`say a\nend ${reason}`)
  expect(turn.state).toBe('complete')
  expect(noticesOf(turn).join()).toMatch(notice)
})

test('[N44.4] [N44] a turn without any output gets a notice with the agent’s diagnostic output', async () => {
  const room = await acpRoom()
  const turn = await room.turn('stderr no such model\nend end_turn')
  expect(noticesOf(turn)).toMatchObject([expect.stringMatching(/without any output[^]*no such model/)])
  expect(noticesOf(await room.turn('say a'))).toEqual([])
  // A denial adds no notice, because the user knows why the agent stopped.
  const turnId = room.begin('ask-and-stop c1')
  room.decide(await room.pendingCall(), false)
  expect(noticesOf(await room.ended(turnId))).toEqual([])
})

test('[N44.5] [N44] updates after the end of their turn are ignored', async () => {
  const room = await acpRoom()
  await room.turn('say a\nlate words')
  writeFileSync(join(room.agent.folder, 'over'), '')
  await until(() => room.agent.lines('late').length > 0)
  const turn = await room.turn('say b')
  expect([textOf(turn), room.chat.turns.map(textOf)]).toEqual(['b', ['a', 'b']])
})

test('[N44.5] [N44] updates that are unknown or malformed harm neither their turn nor the next', async () => {
  const room = await acpRoom()
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
  const malformed = [{ sessionId: 'nobody', update: updates[1] }, { sessionId: 7 }, null, 7, []].map(frame)
  const turn = await room.turn(['say a', ...frames, ...malformed, 'garbage', 'say b'].join('\n'))
  expect([turn.state, errorOf(turn)]).toEqual(['complete', undefined])
  expect(textOf(turn)).toMatch(/^a\|.*b$/)
  expect(callsOf(turn.responseParts).filter(({ status }) => status !== 'completed')).toEqual([])
  expect(textOf(await room.turn('say next'))).toBe('next')
})

function frame(params: unknown): string {
  return `raw ${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}`
}

async function inputRequest(room: AcpRoom) {
  const find = () => room.chat.activeTurn?.responseParts.find(({ kind }) => kind === 'inputRequest')
  await room.ann.until(() => find() !== undefined)
  const part = find()
  if (part?.kind !== 'inputRequest') throw new Error('no input request')
  return part.request
}
