import { choices } from '@atrium/host/access/choices'
import type { McpResult } from '@atrium/host/ports/mcp'
import { expect, test } from 'vitest'
import { FakeMcp } from '../../../../host/test/fakes/fake-mcp.ts'
import { mcpRoom } from '../../../test/mcp/room.ts'
import { callsIn, modelRoom, no, textOf, yes } from '../../../test/model-room.ts'

/** Creates a room whose host has the scripted MCP server `docs` in its settings, as a real process of the pool. */
async function serverRoom() {
  const { pool, modern } = mcpRoom()
  const customizations = { hash: String, servers: { docs: modern() } }
  return modelRoom({}, { machine: { mcp: pool, customizations } })
}

const results = (sent: readonly { readonly role: string; readonly text: string }[]) =>
  sent.filter(({ role }) => role === 'tool').map(({ text }) => text)

test('[N30] [H19] the model gets the tools of MCP servers, and a call runs in the server after a person has approved it', async () => {
  const { begin, ended, pending, answer, provider, sent } = await serverRoom()
  const turnId = await begin('call echo {"text":"hello"} ; say done')
  const call = await pending()
  expect(call).toMatchObject({
    toolName: 'echo',
    contributor: { kind: 'mcp' },
    toolInput: '{"text":"hello"}',
  })
  expect(provider.model.doStreamCalls[0]?.tools?.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['read', 'echo', 'kinds', 'docs_ask']),
  )
  await answer(0, yes)
  const turn = await ended(turnId)
  expect([turn.state, textOf(turn), results(sent())]).toEqual(['complete', 'done', ['hello']])
  expect(callsIn(turn)).toMatchObject([{ status: 'completed', success: true, confirmed: 'user-action' }])
})

test('[N30] [H19] a denied call does not reach the server, and the model continues', async () => {
  const { begin, ended, pending, answer, sent } = await serverRoom()
  const turnId = await begin('call echo {"text":"hello"} ; say done')
  await pending()
  await answer(0, { ...no, reasonMessage: 'not today' })
  const turn = await ended(turnId)
  expect([turn.state, textOf(turn)]).toEqual(['complete', 'done'])
  expect(results(sent())).toEqual([
    'The user did not allow this, and it was not done.\nThe reason: not today',
  ])
})

test('[N30] [H19] a permission for the session covers later calls of the same tool, and of no other', async () => {
  const { begin, ended, pending, answer, turn } = await serverRoom()
  const first = await begin('call echo {"text":"a"} ; say done')
  await pending()
  await answer(0, { ...yes, selectedOptionId: choices.session })
  await ended(first)
  expect(callsIn(await turn('call echo {"text":"b"} ; say done'))).toMatchObject([{ confirmed: 'setting' }])
  const other = await begin('call pid {} ; say done')
  await pending()
  await answer(0, no)
  await ended(other)
})

test('[N30] S-46: a tool that fails, one that crashes its server and a wrong input do not end the turn', async () => {
  const { begin, ended, pending, answer, sent } = await serverRoom()
  const turnId = await begin(
    'call fail {} ; call echo [1] ; call echo {"text": ; call crash {} ; call echo {"text":"back"} ; say done',
  )
  for (let i = 0; i < 5; i++) {
    await pending(i)
    await answer(i, yes)
  }
  const turn = await ended(turnId)
  expect([turn.state, textOf(turn)]).toEqual(['complete', 'done'])
  expect(callsIn(turn).map((call) => 'success' in call && call.success)).toEqual([
    false,
    false,
    false,
    false,
    true,
  ])
  const texts = results(sent())
  expect(texts[0]).toContain('the disk is full')
  expect(texts.slice(1, 3)).toEqual(Array(2).fill('Failed: The input of this tool is not a JSON object.'))
  expect(texts[3]).toMatch(/^Failed: /)
  expect(texts[4]).toBe('back')
})

test('[N30] the calls of MCP servers in one response run at the same time', async () => {
  const waiting: (() => void)[] = []
  const done: McpResult = { success: true, content: [{ type: 'text', text: 'done' }] }
  const mcp = new FakeMcp([{ name: 'find' }], () => {
    const result = new Promise<McpResult>((resolve) => waiting.push(() => resolve(done)))
    // Each call ends only when both have begun.
    if (waiting.length === 2) for (const end of waiting) end()
    return result
  })
  const customizations = { hash: String, servers: { docs: { command: '/docs' } } }
  const { begin, ended, pending, answer, sent } = await modelRoom({}, { machine: { mcp, customizations } })
  const turnId = await begin('call find {"n":1} & call run {"command":"a"} & call find {"n":2} ; say done')
  for (const i of [0, 1, 2]) await pending(i)
  for (const i of [2, 0, 1]) await answer(i, yes)
  expect(textOf(await ended(turnId))).toBe('done')
  expect(mcp.calls.map(({ input }) => input)).toHaveLength(2)
  expect(results(sent())).toMatchObject(['done', expect.stringContaining('ran a'), 'done'])
})

test('[N30] I6: a call that waits for approval when the host crashes is asked about again, and runs once', async () => {
  const mcp = new FakeMcp([{ name: 'find' }], async () => ({
    success: true,
    content: [{ type: 'text', text: 'here' }],
  }))
  const customizations = { hash: String, servers: { docs: { command: '/docs' } } }
  const { host, begin, pending, again, sent } = await modelRoom({}, { machine: { mcp, customizations } })
  const turnId = await begin('call find {} ; say done')
  await pending()
  await host.restart('crash')
  const ben = await again()
  await ben.pending()
  expect(mcp.calls).toEqual([])
  await ben.answer(0, yes)
  expect(textOf(await ben.ended(turnId))).toBe('done')
  expect([mcp.calls.length, results(sent())]).toEqual([1, ['here']])
})
