import { expect, test } from 'vitest'
import type { Client } from '../../../../host/test/test-host.ts'
import { acpRoom, callsOf, chat, session, textOf } from '../../../test/acp-room.ts'
import type { AcpRoom } from '../../../test/acp-room.ts'

const offers = (client: Client, ...tools: readonly (string | object)[]) => {
  const definitions = tools.map((tool) => (typeof tool === 'string' ? { name: tool } : tool))
  const activeClient = { clientId: client.clientId, displayName: 'Ann', tools: definitions }
  return client.echo(client.dispatch(session, { type: 'session/activeClientSet', activeClient }))
}
const calls = (room: AcpRoom) => callsOf(room.chat.activeTurn?.responseParts ?? [])
const running = (room: AcpRoom, count = 1) =>
  room.ann.until(() => calls(room).filter(({ status }) => status === 'running').length === count)
const completes = async (room: AcpRoom, text: string, nth = 0, more: object = {}) => {
  const { id: turnId } = room.chat.activeTurn ?? {}
  const { toolCallId } = calls(room).filter(({ contributor }) => contributor)[nth] ?? {}
  const result = { success: true, pastTenseMessage: 'Done', content: [{ type: 'text', text }], ...more }
  const action = { type: 'chat/toolCallComplete', turnId, toolCallId, result }
  return (await room.ann.echo(room.ann.dispatch(chat, action))).rejectionReason
}
const servers = (room: AcpRoom) =>
  room.agent
    .lines('opened')
    .map((line) => (JSON.parse(line) as { mcpServers: { name: string }[] }).mcpServers)

test('[N50] an agent calls the tool of a client, and gets its result', async () => {
  const room = await acpRoom({ quirks: ['http'] })
  await offers(room.ann, { name: 'lint', title: 'Lint', description: 'Checks a file.' }, 'open')
  const turnId = room.begin('mcp-list atrium\nmcp atrium lint {"path":"a"}\nsay done')
  await running(room)
  expect(calls(room)).toMatchObject([
    {
      toolName: 'lint',
      displayName: 'Lint',
      contributor: { kind: 'client', clientId: room.ann.clientId },
      toolInput: '{"path":"a"}',
      confirmed: 'not-needed',
    },
  ])
  expect(await completes(room, '2 problems')).toBeUndefined()
  expect(textOf(await room.ended(turnId))).toBe('lint, open|result: 2 problems|done')
})

test('[N50.2] [N50] without tools an agent gets no server; with the first tools it gets one, and keeps its memory', async () => {
  const room = await acpRoom({ quirks: ['http', 'resume'] })
  await room.turn('say one')
  await offers(room.ann, 'lint')
  expect(textOf(await room.turn('mcp-list atrium'))).toBe('lint')
  await offers(room.ann)
  expect(textOf(await room.turn('mcp-list atrium\nmcp atrium lint {}'))).toBe(
    'error: There is no tool "lint". The tools are: none.',
  )
  // The first session belongs to the probe.
  expect(servers(room).map((each) => each.map(({ name }) => name))).toEqual([[], [], ['atrium']])
})

test('[N50] an agent that supports no MCP over HTTP works without the tools', async () => {
  const room = await acpRoom()
  await offers(room.ann, 'lint')
  expect(textOf(await room.turn('say one'))).toBe('one')
  expect(servers(room).flat()).toEqual([])
})

test('[N50.2] [N50] an agent that cannot restore its session is not restarted for tools', async () => {
  const room = await acpRoom({ quirks: ['http', 'no-load'] })
  await room.turn('say one')
  await offers(room.ann, 'lint')
  await room.turn('say two')
  expect(room.agent.lines('started')).toHaveLength(1)
})

test('[N50] a destructive tool asks a person; a denial and a failure are results with an error', async () => {
  const room = await acpRoom({ quirks: ['http'] })
  await offers(room.ann, { name: 'erase', annotations: { destructiveHint: true } }, 'lint')
  const turnId = room.begin('mcp atrium erase {}\nmcp atrium lint {}\nmcp atrium nothing {}')
  room.decide(await room.pendingCall(), false)
  await running(room)
  await completes(room, '', 1, { success: false, content: [], error: { message: 'broken' } })
  expect(textOf(await room.ended(turnId))).toBe(
    'error: The user did not allow this, and it was not done.|error: Failed: broken|error: There is no tool "nothing". The tools are: erase, lint.',
  )
})

test('[N50.3] [N50] [I6] the host crashes while the tool runs: the client completes it once, and the agent gets that result', async () => {
  const room = await acpRoom({ quirks: ['http'] })
  await offers(room.ann, 'lint')
  const turnId = room.begin('say before\nmcp atrium lint {"path":"a"}\nsay done')
  await running(room)
  const { clientId } = room.ann
  const again = await room.restart('crash', { quirks: ['http'] })
  const back = await again.room.join(clientId, { subscribe: [session, chat] })
  const next = Object.assign(Object.create(again) as AcpRoom, { ann: back })
  expect(calls(next)).toMatchObject([{ status: 'running' }])
  expect(await completes(next, '2 problems')).toBeUndefined()
  const turn = await again.ended(turnId)
  expect(textOf(turn)).toContain('result: 2 problems|done')
  expect(callsOf(turn.responseParts)).toHaveLength(1)
})

test('[N50.3] [N50] [I6] the agent crashes while the tool runs: the call is not made again without the agent knowing', async () => {
  const room = await acpRoom({ quirks: ['http'] })
  await offers(room.ann, 'lint')
  const turnId = room.begin('mcp atrium lint {}\nmcp atrium lint {}')
  await running(room)
  process.kill(Number(room.agent.lines('started').at(-1)), 'SIGKILL')
  await room.ended(turnId)
  room.resume(turnId)
  await running(room)
  expect(calls(room).map(({ status }) => status)).toEqual(['cancelled', 'running'])
  await completes(room, 'ok', 1)
  await room.ann.until(() => room.chat.turns.at(-1)?.state === 'complete')
  expect(textOf(room.chat.turns.at(-1) ?? { responseParts: [] })).toBe(
    'error: This was interrupted: it is not known what it has done. Look before you do it again.|result: ok',
  )
})

test('[N50.4] [N50] a call that the agent reports itself is shown once, unless the agent never makes it', async () => {
  const room = await acpRoom({ quirks: ['http'] })
  await offers(room.ann, 'lint')
  const reported = 'call c1 other mcp__atrium__lint = {"status":"in_progress"}'
  const turnId = room.begin(
    `${reported}\nmcp atrium lint {}\nchange c1 {"status":"completed"}\n${reported.replace('c1', 'c2')}\nchange c2 {"status":"completed"}`,
  )
  await running(room)
  await completes(room, 'ok')
  const turn = await room.ended(turnId)
  expect(callsOf(turn.responseParts).map((call) => [call.toolName, call.contributor?.kind])).toEqual([
    ['lint', 'client'],
    [expect.any(String), undefined],
  ])
})

test('[N50] calls at the same time, and a turn that is cancelled while its tool runs', async () => {
  const room = await acpRoom({ quirks: ['http'] })
  await offers(room.ann, 'lint')
  const turnId = room.begin('mcp atrium lint {}')
  await running(room)
  room.cancel(turnId)
  expect(callsOf((await room.ended(turnId)).responseParts)).toMatchObject([
    { status: 'cancelled', reason: 'skipped' },
  ])
  expect(textOf(await room.turn('say next'))).toBe('next')
})
