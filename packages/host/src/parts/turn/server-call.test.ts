import { callIn } from '@atrium/protocol/chat/calls'
import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { FakeMcp } from '../../../test/fakes/fake-mcp.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import {
  accepted,
  chat,
  refused,
  sessionOf,
  started,
  twoClientSession,
} from '../../../test/two-client-session.ts'
import { McpAuthRequired, McpFailed } from '../../ports/mcp.ts'
import type { McpCall, McpResult } from '../../ports/mcp.ts'

const id = 'atrium:/mcp/docs'
const contributor = { kind: 'mcp', customizationId: id } as const
const start = {
  type: 'chat/toolCallStart',
  toolCallId: 'c',
  toolName: 'find',
  displayName: 'Find',
  contributor,
} as const
const ready = {
  type: 'chat/toolCallReady',
  toolCallId: 'c',
  invocationMessage: 'Find',
  toolInput: '{"text":"x"}',
} as const
const found: McpResult = { success: true, content: [{ type: 'text', text: 'here' }] }
const approve = {
  type: 'chat/toolCallConfirmed',
  turnId: 't1',
  toolCallId: 'c',
  approved: true,
  confirmed: 'user-action',
}

test('[H19.1] [H19] [H19.6] the tools of a server are offered to the agent of a turn, which asks for each call', async () => {
  const { all, mcp } = await withServer(async () => found)
  const run = await begun(all)
  expect(run.chat.tools.list()).toMatchObject([
    {
      name: 'find',
      displayName: 'MCP docs: find',
      contributor,
      asks: true,
      definition: { description: 'Finds a text' },
    },
  ])
  // The agent says that nobody need be asked. It has no say in that.
  run.say(start, { ...ready, confirmed: 'not-needed' })
  await until(() => call(all)?.status === 'pending-confirmation')
  const ended = run.chat.tools.ended('c')
  expect(mcp.calls).toEqual([])
  await accepted(all.ann, chat, approve)
  // The record names the server, whatever the agent or the server calls the tool (H19.6).
  expect(await ended).toMatchObject({
    status: 'completed',
    success: true,
    pastTenseMessage: 'Called MCP docs: find',
    content: found.content,
  })
  expect(mcp.calls).toEqual([{ tool: 'find', input: { text: 'x' } }])
  run.end()
})

test('[H19] a denied call is not run', async () => {
  const { all, mcp } = await withServer(async () => found)
  const run = await begun(all)
  run.say(start, ready)
  await until(() => call(all)?.status === 'pending-confirmation')
  const ended = run.chat.tools.ended('c')
  await accepted(all.ann, chat, {
    type: approve.type,
    turnId: 't1',
    toolCallId: 'c',
    approved: false,
    reason: 'denied',
  })
  expect(await ended).toMatchObject({ status: 'cancelled' })
  expect(mcp.calls).toEqual([])
  run.end()
})

test('[H19.1] [H19] an agent cannot complete the call of a server', async () => {
  const { all } = await withServer(async () => found)
  const run = await begun(all)
  run.say(start, ready, {
    type: 'chat/toolCallComplete',
    toolCallId: 'c',
    result: { success: true, pastTenseMessage: 'x' },
  })
  await until(() => stateOf(all).turns.length === 1)
  expect(stateOf(all).turns[0]?.responseParts.at(-1)).toMatchObject({
    kind: 'error',
    error: { message: expect.stringContaining('may not report the progress or the result') },
  })
})

test('[H19.1] [H19.3] [H19] [H19.6] progress, questions and a failure of a server are shown', async () => {
  const { all } = await withServer(async (_, call) => {
    call.progress({ fraction: 0.5, message: 'half' })
    const questions = [{ kind: 'text' as const, id: 'who', message: 'Who?' }]
    const { response, answers } = await call.elicit({ message: 'Tell me', questions })
    throw new McpFailed(`${response} ${JSON.stringify(answers?.['who'])}`)
  })
  const run = await begun(all)
  run.say(start, ready)
  await until(() => call(all)?.status === 'pending-confirmation')
  const ended = run.chat.tools.ended('c')
  await accepted(all.ann, chat, approve)
  const request = () => stateOf(all).activeTurn?.responseParts.find((part) => part.kind === 'inputRequest')
  await until(() => request() !== undefined)
  expect(call(all)).toMatchObject({ status: 'running', content: [{ type: 'text', text: '50 % half' }] })
  const part = request()
  expect(part).toMatchObject({ request: { message: 'MCP docs asks:\n\nTell me' } })
  const requestId = part?.kind === 'inputRequest' ? part.request.id : ''
  const answer = { state: 'submitted', value: { kind: 'text', value: 'Ann' } }
  await accepted(all.ann, chat, {
    type: 'chat/inputCompleted',
    requestId,
    response: 'accept',
    answers: { who: answer },
  })
  expect(await ended).toMatchObject({
    status: 'completed',
    success: false,
    error: { message: expect.stringContaining('Ann') },
  })
  run.end()
})

test('[H19.3] [H19] a call that needs an authorization waits for it, and is made again', async () => {
  const resource = { resource: 'https://docs.example' }
  const { all, mcp } = await withServer(async () => {
    if (mcp.calls.length === 1) throw new McpAuthRequired('Sign in', { reason: 'required', resource })
    return found
  })
  const run = await begun(all)
  run.say(start, ready)
  await until(() => call(all)?.status === 'pending-confirmation')
  const ended = run.chat.tools.ended('c')
  await accepted(all.ann, chat, approve)
  await until(() => call(all)?.status === 'auth-required')
  await all.ann.ask('authenticate', { resource: resource.resource, token: 'x' })
  expect(await ended).toMatchObject({ status: 'completed', success: true })
  expect(mcp.calls).toHaveLength(2)
  run.end()
})

test('[H19.2] [H19] a call that another host had begun is not run again', async () => {
  const { all, mcp, agent } = await withServer(() => new Promise(() => {}))
  const run = await begun(all)
  run.say(start, ready)
  await until(() => call(all)?.status === 'pending-confirmation')
  void run.chat.tools.ended('c').catch(() => {})
  await accepted(all.ann, chat, approve)
  await until(() => mcp.calls.length === 1)
  const next = new ScriptedAgent({ resumes: true })
  await all.restart('crash', undefined, [next])
  expect(agent.runs).toHaveLength(1)
  const ann = await all.join('ann')
  await ann.ask('subscribe', { channel: chat })
  await accepted(ann, chat, { type: 'chat/turnResume', turnId: 't1' })
  const resumed = await next.given(0)
  expect(await resumed.chat.tools.ended('c')).toMatchObject({ status: 'cancelled' })
  expect(mcp.calls).toHaveLength(1)
  resumed.end()
})

test('[H19.4] users stop and start a server, switch it off, and see its state', async () => {
  const { all, mcp } = await withServer(async () => found)
  const run = await begun(all)
  const server = () => sessionOf(all).customizations?.find((each) => each.id === id)
  await until(() => server()?.type === 'mcpServer' && state(server()) === 'ready')
  await accepted(all.ann, session, { type: 'session/mcpServerStopRequested', id })
  await until(() => state(server()) === 'stopped')
  await accepted(all.ann, session, { type: 'session/mcpServerStartRequested', id })
  await until(() => state(server()) === 'ready')
  const enablement = [{ kind: 'session', enabled: false }]
  await accepted(all.ann, session, { type: 'session/customizationToggled', id, enablement })
  await until(() => mcp.opened[0]?.closed === true)
  expect(run.chat.tools.list()).toEqual([])
  run.end()
  await until(() => stateOf(all).turns.length === 1)
  expect(await refused(all, session, { type: 'session/mcpServerStartRequested', id })).toMatch(
    /the agent starts/,
  )
})

test('[H17.9] a session that leaves memory lets its servers go, and reads its plugins again when it is back', async () => {
  const files = new FakeFiles()
  const put = (name: string) => {
    files.put('/a/.agents/plugins/kit/.plugin/plugin.json', `{"name":"${name}"}`)
    files.put('/a/.agents/plugins/kit/skills/tidy/SKILL.md', 'Be tidy.')
  }
  put('before')
  const { all, mcp } = await withServer(async () => found, files)
  const run = await begun(all)
  run.end()
  const names = () => sessionOf(all).customizations?.map(({ name }) => name)
  await until(() => stateOf(all).turns.length === 1 && names()?.includes('before') === true)
  expect(mcp.opened.map(({ closed }) => closed)).toEqual([false])
  for (const client of [all.ann, all.ben])
    for (const channel of [chat, session]) client.peer.notify('unsubscribe', { channel })
  await until(() => (all.world.advance(60_000), mcp.opened[0]?.closed === true))
  put('after')
  await all.ann.ask('subscribe', { channel: session })
  await until(() => names()?.includes('after') === true)
})

test('[S-57 serverWaitMs] at 10,000 ms the turn waits; [S-57 serverWaitMs] past 10,000 ms it begins without the server', async () => {
  const { all, mcp } = await withServer(async () => found)
  mcp.hangs = true
  await accepted(all.ann, chat, started('t1'))
  await until(() => mcp.opened.length > 0)
  all.world.advance(10_000 - 1)
  expect(all.agent.runs).toHaveLength(0)
  all.world.advance(1)
  const run = await all.agent.given(0)
  expect(run.chat.tools.list()).toEqual([])
  run.end()
  // The next turn does not wait for it again.
  await until(() => (all.ann.state(chat) as unknown as ChatState).activeTurn === undefined)
  await accepted(all.ann, chat, started('t2'))
  ;(await all.agent.given(1)).end()
})

async function withServer(run: (tool: string, call: McpCall) => Promise<McpResult>, files = new FakeFiles()) {
  const tools = [{ name: 'find', description: 'Finds a text', inputSchema: { type: 'object' } }]
  const mcp = new FakeMcp(tools, (tool, _, call) => run(tool, call))
  const customizations = { hash: String, servers: { docs: { command: '/bin/docs' } } }
  const agent = new ScriptedAgent({ resumes: true })
  const all = await twoClientSession(agent, { machine: { files, customizations, mcp } })
  return { all, mcp, agent }
}

type All = Awaited<ReturnType<typeof twoClientSession>>

async function begun(all: All) {
  await accepted(all.ann, chat, started('t1'))
  return all.agent.given(0)
}

function stateOf({ ann }: All): ChatState {
  // The channel is that of a chat.
  return ann.state(chat) as unknown as ChatState
}

function call(all: All) {
  return callIn(stateOf(all), 'c')
}

function state(of: unknown): string {
  return String((of as { state?: { kind?: string } }).state?.kind)
}
