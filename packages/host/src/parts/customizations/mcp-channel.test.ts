import type { JsonObject } from '@atrium/protocol/json'
import type { McpAppCapabilities, McpServerCustomization } from '@atrium/protocol/session/customization'
import type { SessionState } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { pairedClient } from '../../../test/devices.ts'
import { FakeFiles } from '../../../test/fake-files.ts'
import { FakeMcp } from '../../../test/fakes/fake-mcp.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { accepted, chat, started, twoClientSession } from '../../../test/two-client-session.ts'
import type { Client } from '../../../test/test-host.ts'
import { McpAuthRequired, McpFailed, McpRefused } from '../../ports/mcp.ts'

const serves = { serverTools: {} }

/** A session with an MCP server that is ready. */
async function readyServer(served: McpAppCapabilities = serves) {
  const mcp = new FakeMcp([], async () => ({ success: true }))
  mcp.served = served
  const customizations = { hash: String, servers: { docs: { command: '/bin/docs' } } }
  const all = await twoClientSession(new ScriptedAgent(), {
    machine: { files: new FakeFiles(), customizations, mcp },
  })
  await accepted(all.ann, chat, started('t1'))
  await all.agent.given(0)
  const { ann, ben } = all
  await ben.until(() => serverOf(ben).state.kind === 'ready')
  await ann.until(() => serverOf(ann).state.kind === 'ready')
  await ann.ask('listSessions', {})
  return { ...all, mcp, channel: serverOf(ann).channel ?? '' }
}

function serverOf(client: Client): McpServerCustomization {
  const { customizations = [] } = client.state(session) as unknown as SessionState
  const found = customizations.find((each) => each.type === 'mcpServer')
  if (!found) throw new Error('the session has no MCP server')
  return found
}

const code = (wanted: number) => ({ code: wanted })

test('[F15] [P12] a ready server has a channel, whose requests reach it as they are', async () => {
  const { ann, ben, mcp, channel } = await readyServer()
  expect(serverOf(ann)).toMatchObject({ mcpApp: { capabilities: serves } })
  const tools = [{ name: 'x', _meta: { odd: 1 } }]
  mcp.answer = (method, params) => ({ tools, was: { method, params } })
  const params = { cursor: 'c', _meta: { a: 'b' } }
  expect(await ben.peer.request('tools/list', { channel, ...params })).toEqual({
    tools,
    was: { method: 'tools/list', params },
  })
})

test('[F15] the channel is gone while the server does not run, and is the same afterwards', async () => {
  const { ann, channel, mcp } = await readyServer()
  const { id } = serverOf(ann)
  await accepted(ann, session, { type: 'session/mcpServerStopRequested', id })
  await ann.until(() => serverOf(ann).mcpApp === undefined)
  expect(serverOf(ann)).not.toHaveProperty('channel')
  await expect(ann.peer.request('tools/list', { channel })).rejects.toMatchObject(code(-32008))
  await accepted(ann, session, { type: 'session/mcpServerStartRequested', id })
  await ann.until(() => serverOf(ann).mcpApp !== undefined)
  expect(serverOf(ann).channel).toBe(channel)
  mcp.answer = () => ({ tools: [] })
  expect(await ann.peer.request('tools/list', { channel })).toEqual({ tools: [] })
})

test('[F15.1] other methods, and channels that there are not, are refused', async () => {
  const { ann, channel } = await readyServer()
  for (const method of ['resources/read', 'notifications/tools/list_changed', 'ping/x', 'constructor'])
    await expect(ann.peer.request(method, { channel })).rejects.toMatchObject(code(-32601))
  for (const other of [`${channel}x`, `${channel}/x`, 'mcp://%', 'mcp://x', `mcp://${session}/x`])
    await expect(ann.peer.request('tools/list', { channel: other })).rejects.toMatchObject(code(-32008))
  for (const other of ['ahp-root://', session, 5, undefined])
    await expect(ann.peer.request('tools/list', { channel: other })).rejects.toMatchObject(code(-32601))
})

test('[F15.1] a server that serves nothing has no channel', async () => {
  const { ann } = await readyServer({})
  expect(serverOf(ann)).not.toHaveProperty('channel')
  expect(serverOf(ann)).not.toHaveProperty('mcpApp')
})

test('[F15.1] a client that has not opened its connection is refused', async () => {
  const { link, channel } = await readyServer()
  await expect(link().peer.request('tools/list', { channel })).rejects.toMatchObject(code(-32600))
})

test('[F15.1] a device needs the role own', async () => {
  const all = await readyServer()
  const client = await pairedClient(all, 'approve')
  await expect(client.peer.request('tools/list', { channel: all.channel })).rejects.toMatchObject({
    code: -32009,
    message: expect.stringContaining('needs the role own'),
  })
})

test.each([
  ['its own code', new McpRefused('The call failed: it answered with the error "no".', -32_602), -32_602],
  [
    'AuthRequired',
    new McpAuthRequired('Sign in.', { reason: 'required', resource: { resource: 'https://docs.example' } }),
    -32_007,
  ],
  ['InternalError', new McpFailed('The MCP server was stopped.'), -32_603],
])('[F15.2] a failure is an error with %s and a sentence', async (_, error, expected) => {
  const { ann, mcp, channel } = await readyServer()
  mcp.answer = () => {
    throw error
  }
  await expect(ann.peer.request('tools/call', { channel, name: 'x' })).rejects.toMatchObject({
    code: expected,
    message: error.message,
  })
})

test('[F15.2] a request that takes long does not hold up the next ones of its client', async () => {
  const { ann, mcp, channel } = await readyServer()
  const { promise, resolve } = deferred<JsonObject>()
  mcp.answer = () => promise
  const asked = ann.peer.request('tools/call', { channel, name: 'slow' })
  await ann.ask('listSessions', {})
  resolve({ content: [] })
  expect(await asked).toEqual({ content: [] })
})

function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve: (value: T) => resolve(value) }
}
