import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import type { Client } from '../../../../host/test/test-host.ts'
import {
  agentRoom,
  callsIn,
  chat,
  chatUser,
  modelRoom,
  no,
  session,
  textOf,
  world,
  yes,
} from '../../../test/model-room.ts'
import { scriptedProvider } from '../../../test/scripted-model.ts'
import { agentOn } from '../model.ts'
import { functionOf } from './offered-tool.ts'

const offers = (client: Client, ...tools: readonly (string | object)[]) => {
  const definitions = tools.map((tool) => (typeof tool === 'string' ? { name: tool } : tool))
  const activeClient = { clientId: client.clientId, displayName: client.clientId, tools: definitions }
  return client.echo(client.dispatch(session, { type: 'session/activeClientSet', activeClient }))
}
const calls = (client: Client) => callsIn((client.state(chat) as unknown as ChatState).activeTurn)
const running = (client: Client, ...names: readonly string[]) =>
  client.until(() =>
    names.every((name) => calls(client).some((call) => call.toolName === name && call.status === 'running')),
  )
const completes = async (client: Client, name: string, result: object) => {
  const { activeTurn } = client.state(chat) as unknown as ChatState
  const { toolCallId } = callsIn(activeTurn).find(({ toolName }) => toolName === name) ?? {}
  const whole = { success: true, pastTenseMessage: 'Done', ...result }
  const action = { type: 'chat/toolCallComplete', turnId: activeTurn?.id, toolCallId, result: whole }
  return (await client.echo(client.dispatch(chat, action))).rejectionReason
}
const text = (value: string) => ({ content: [{ type: 'text', text: value }] })

test('[N30] the model gets the tools of clients beside its own, those of each moment', async () => {
  const { ann, provider, begin, ended } = await modelRoom({ 'a.txt': 'x' })
  await offers(
    ann,
    {
      name: 'lint',
      description: 'Checks\u200b a file.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
    'run',
  )
  const turnId = await begin('call lint {"path":"a.txt"} ; call read {"path":"a.txt"} ; say done')
  await running(ann, 'lint')
  await offers(ann, 'open')
  await completes(ann, 'lint', text('2 problems'))
  await ended(turnId)
  const named = provider.model.doStreamCalls.map(({ tools = [] }) => tools.map(({ name }) => name))
  expect(named[0]).toEqual([
    'read',
    'list',
    'search',
    'edit',
    'write',
    'comments',
    'comment',
    'reply',
    'run',
    'leave',
    'ask',
    'spawn',
    'lint',
    'ann_run',
  ])
  expect(named[1]?.slice(12)).toEqual(['open'])
  expect(provider.model.doStreamCalls[0]?.tools?.find(({ name }) => name === 'lint')).toEqual({
    type: 'function',
    name: 'lint',
    description: 'Checks a file.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  })
})

test('[N30.1] [N30] calls of several clients run at the same time, and the model gets all results', async () => {
  const { host, ann, sent, begin, ended } = await modelRoom()
  const ben = await host.join('ben', { subscribe: [session, chat] })
  await offers(ann, 'lint', 'run')
  await offers(ben, 'lint')
  const turnId = await begin('call ann_lint {} & call ben_lint {"deep":true} & call ann_run {} ; say done')
  await running(ann, 'lint', 'run')
  await ann.until(() => calls(ann).filter(({ status }) => status === 'running').length === 3)
  expect(calls(ann).map(({ toolName, contributor }) => [toolName, contributor])).toEqual([
    ['lint', { kind: 'client', clientId: 'ann' }],
    ['lint', { kind: 'client', clientId: 'ben' }],
    ['run', { kind: 'client', clientId: 'ann' }],
  ])
  const [first, second] = calls(ann)
  const complete = (client: Client, toolCallId = '', value = '') => {
    const result = { success: true, pastTenseMessage: 'Done', ...text(value) }
    return client.echo(client.dispatch(chat, { type: 'chat/toolCallComplete', turnId, toolCallId, result }))
  }
  expect((await complete(ben, first?.toolCallId)).rejectionReason).toMatch(/only the client/)
  await complete(ben, second?.toolCallId, 'from ben')
  await complete(ann, first?.toolCallId, 'from ann')
  await completes(ann, 'run', { success: false, error: { message: 'it is broken' } })
  expect(textOf(await ended(turnId))).toBe('done')
  expect(
    sent()
      .filter(({ role }) => role === 'tool')
      .map((message) => message.text),
  ).toEqual(['from ann', 'from ben', 'Failed: it is broken'])
})

test('[N30] a model knows its earlier calls by the names under which it made them', async () => {
  const { ann, provider, begin, ended } = await modelRoom()
  await offers(ann, 'run')
  const turnId = await begin('call ann_run {"a":1} ; say done')
  await running(ann, 'run')
  await completes(ann, 'run', text('ok'))
  await ended(turnId)
  const assistant = provider.model.doStreamCalls.at(-1)?.prompt.find(({ role }) => role === 'assistant')
  expect(assistant?.content).toMatchObject([{ type: 'tool-call', toolName: 'ann_run', input: { a: 1 } }])
})

test('[N30] a tool that is called like one of the agent asks nothing and runs nothing here', async () => {
  const { ann, terminals, begin, ended } = await modelRoom()
  await offers(ann, 'ask', 'run')
  const turnId = await begin('call ann_ask {"question":"Who?"} & call ann_run {"command":"ls"} ; say done')
  await running(ann, 'ask', 'run')
  await completes(ann, 'ask', text('me'))
  await completes(ann, 'run', text('ran'))
  const { responseParts } = await ended(turnId)
  expect(responseParts.map(({ kind }) => kind)).toEqual(['toolCall', 'toolCall', 'markdown'])
  expect(terminals.shells).toEqual([])
})

test.each([yes, no])('[N30] a destructive tool of a client asks a person: %j', async (decision) => {
  const { ann, sent, begin, pending, answer, ended } = await modelRoom()
  await offers(ann, { name: 'erase', annotations: { destructiveHint: true } })
  const turnId = await begin('call erase {} ; say done')
  await pending()
  await answer(0, decision)
  if (decision.approved) {
    await running(ann, 'erase')
    await completes(ann, 'erase', text('erased'))
  }
  await ended(turnId)
  const [result] = sent().filter(({ role }) => role === 'tool')
  expect(result?.text).toBe(
    decision.approved ? 'erased' : 'The user did not allow this, and it was not done.',
  )
})

test('[N30.1] [N30] I6: a call that runs at its client while the host crashes is not made again', async () => {
  const { host, ann, provider, begin } = await modelRoom()
  await offers(ann, 'lint')
  const turnId = await begin('call lint {} ; say done')
  await running(ann, 'lint')
  await host.restart('crash')
  const back = await host.join('ann', { subscribe: [session, chat] })
  expect(calls(back)).toMatchObject([{ status: 'running', toolName: 'lint' }])
  expect(await completes(back, 'lint', text('2 problems'))).toBeUndefined()
  const turn = await chatUser(host, back).ended(turnId)
  expect([turn.state, textOf(turn), callsIn(turn).length]).toEqual(['complete', 'done', 1])
  expect(provider.model.doStreamCalls).toHaveLength(2)
})

test('[N30.2] [N30] images in a result reach a model that sees, and others are told of them', async () => {
  const image = { type: 'embeddedResource', data: 'aGk=', contentType: 'image/png' }
  const page = {
    type: 'embeddedResource',
    data: Buffer.from('<p>ü</p>').toString('base64'),
    contentType: 'text/html; charset=utf-8',
  }
  for (const [imageResults, supportsVision] of [
    [true, true],
    [true, false],
    [false, true],
  ] as const) {
    const provider = { ...scriptedProvider({ supportsVision }), ...(imageResults && { imageResults }) }
    const { ann, begin, ended } = await agentRoom(agentOn([provider], { world, platform: 'test' }))
    await offers(ann, 'shot')
    const turnId = await begin('call shot {} ; say done')
    await running(ann, 'shot')
    await completes(ann, 'shot', { content: [{ type: 'text', text: 'Here:' }, image, page] })
    await ended(turnId)
    const tool = provider.model.doStreamCalls
      .flatMap(({ prompt }) => prompt)
      .find(({ role }) => role === 'tool')
    const seen = imageResults && supportsVision
    expect(tool?.content).toMatchObject([
      {
        output: seen
          ? {
              type: 'content',
              value: [
                { text: 'Here:\n<p>ü</p>' },
                { type: 'image-data', data: 'aGk=', mediaType: 'image/png' },
              ],
            }
          : { type: 'text', value: 'Here:\n(An image, which this model cannot see.)\n<p>ü</p>' },
      },
    ])
  }
})

test('[N30.2] [N30] a private key in a result of a client does not reach the model, and a long result is cut', async () => {
  const { ann, sent, begin, ended } = await modelRoom()
  await offers(ann, 'lint', 'open')
  const turnId = await begin('call lint {} & call open {} ; say done')
  await running(ann, 'lint', 'open')
  await completes(ann, 'lint', text(`-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}`))
  await completes(ann, 'open', text('x'.repeat(60_000)))
  await ended(turnId)
  const [key, long] = sent().filter(({ role }) => role === 'tool')
  expect(key?.text).toBe('(The result contains a private key, and is not shown to you.)')
  expect(long?.text).toMatch(/characters are left out here/)
})

test('[N30] whatever schema a client gives, the model gets an object with properties', () => {
  const schema = (inputSchema?: object) =>
    functionOf({
      name: 'x',
      definition: { name: 'x', ...(inputSchema && { inputSchema: { ...inputSchema } }) },
      contributor: { kind: 'client', clientId: 'a' },
      displayName: 'x',
      asks: false,
    }).inputSchema
  const empty = { type: 'object', properties: {} }
  for (const each of [
    undefined,
    {},
    { type: 'string' },
    { anyOf: [] },
    { properties: [] },
    { $schema: 'x', required: ['a', 3] },
  ])
    expect(schema(each)).toEqual(empty)
  const whole = {
    type: 'object',
    properties: { a: {} },
    required: ['a'],
    additionalProperties: false,
    $defs: { b: {} },
  }
  expect(schema({ ...whole, oneOf: [] })).toEqual(whole)
})
