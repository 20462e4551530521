import { readinessOf } from '@atrium/protocol/root/readiness'
import { fileUri } from '@atrium/protocol/file-uri'
import { expect, test } from 'vitest'
import { acpRoom, callsOf, chat, errorOf, noticesOf, session, textOf } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'

const unasked = { program: { actsWithoutAsking: true } }

/** The permissions that the root has for folders. */
function permissions(room: AcpRoom): unknown {
  const { config } = room.ann.state('ahp-root://') as { readonly config?: { readonly values?: object } }
  return (config?.values as { readonly 'atrium.permissions'?: unknown } | undefined)?.['atrium.permissions']
}

test('[N52.1] [N52] an agent that acts without asking says so in its description and in the state of its session', async () => {
  const room = await acpRoom(unasked)
  expect(readinessOf(room.agent.agent.info)).toMatchObject({ actsWithoutAsking: true })
  expect(room.session._meta?.['x-atrium']).toEqual({ actsWithoutAsking: true })
  const other = await acpRoom()
  await other.turn('say a')
  expect(other.session._meta?.['x-atrium']).toBeUndefined()
})

test('[N52.2] [N52.3] [N52] it is not prompted before a user has agreed, and a denial ends the turn', async () => {
  const room = await acpRoom(unasked)
  const turnId = room.begin('effect effects\nsay done')
  const call = await room.pendingCall()
  expect(call).toMatchObject({
    toolName: 'agent:mock',
    invocationMessage: expect.stringContaining(room.folder),
  })
  expect(room.agent.lines('prompts')).toEqual([])
  room.decide(call, false, 'atrium.deny')
  const turn = await room.ended(turnId)
  expect(errorOf(turn)).toMatchObject({ resumable: true, error: { errorType: 'permission' } })
  expect([room.agent.lines('prompts'), room.agent.lines('effects')]).toEqual([[], []])
  // A resumed turn asks anew.
  room.resume(turnId)
  await room.ann.until(() => callsOf(room.chat.activeTurn?.responseParts ?? []).length > 1)
  room.decide(await room.pendingCall(), true, 'atrium.once')
  await room.ann.until(() => room.chat.turns.some(({ id, state }) => id === turnId && state === 'complete'))
  expect(room.agent.lines('effects')).toEqual(['done'])
})

test('[N52.2] [N52] a consent for the folder is stored, counts for the next turns, and can be taken away', async () => {
  const room = await acpRoom(unasked)
  const turnId = room.begin('say one')
  room.decide(await room.pendingCall(), true, 'atrium.folder')
  const turn = await room.ended(turnId)
  expect([turn.state, textOf(turn), noticesOf(turn)]).toEqual(['complete', 'one', []])
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', toolName: 'agent:mock' }])
  expect(permissions(room)).toMatchObject([{ tool: 'agent:mock', folder: fileUri(room.folder) }])
  const next = await room.turn('say two')
  expect([textOf(next), callsOf(next.responseParts)]).toEqual(['two', []])
  room.ann.dispatch('ahp-root://', { type: 'root/configChanged', config: { 'atrium.permissions': [] } })
  const last = room.begin('say three')
  room.decide(await room.pendingCall(), true, 'atrium.once')
  expect(textOf(await room.ended(last))).toBe('three')
})

test('[N52] the question survives a crash of the host, and the agent gets the message after the answer', async () => {
  const before = await acpRoom(unasked)
  const turnId = before.begin('say one')
  const call = await before.pendingCall()
  const room = await before.restart('crash', unasked)
  room.decide(call, true, 'atrium.session')
  const turn = await room.ended(turnId)
  expect([turn.state, textOf(turn)]).toEqual(['complete', 'one'])
  const config = room.session.config?.values['atrium.permissions']
  expect(config).toMatchObject([{ tool: 'agent:mock' }])
})

test('[N52.3] [N52] an agent cannot get the consent by a tool of that name', async () => {
  const room = await acpRoom({ quirks: ['no-options'] })
  const turnId = room.begin('ask c1 {"name":"agent:mock"}')
  const call = await room.pendingCall()
  const { toolCallId } = call
  const answer = { turnId, toolCallId, approved: true, confirmed: 'user-action' }
  const confirmed = { type: 'chat/toolCallConfirmed', ...answer, selectedOptionId: 'atrium.folder' }
  room.ann.dispatch(chat, confirmed)
  room.decide(call, false, 'atrium.deny')
  await room.ended(turnId)
  expect(permissions(room)).toBeUndefined()
  expect(room.ann.state(session)).not.toHaveProperty('config.values.atrium.permissions')
})

test('[N52.5] each call of a worker that nobody was asked about is shown in the chat', async () => {
  const room = await acpRoom()
  const request = (name: unknown, input: object) => ({
    status: 'in_progress',
    _meta: {
      toolNotification: {
        type: 'message',
        params: {
          level: 'info',
          logger: 'subagent:1',
          data: { type: 'subagent_tool_request', subagent_id: '1', tool_call: { name, arguments: input } },
        },
      },
    },
  })
  const turnId = room.begin(
    [
      'call c other delegate',
      'allowed c {}',
      `change c ${JSON.stringify(request('write', { path: '/tmp/out`x`.txt', content: 'he\u202ello' }))}`,
      `change c ${JSON.stringify(request('shell', { command: 'rm a' }))}`,
      `change c ${JSON.stringify(request(5, {}))}`,
      'change c {"_meta":{"toolNotification":{"type":"message","params":{"data":"text"}}}}',
      'change c {"status":"completed"}',
      'say done',
    ].join('\n'),
  )
  room.decide(await room.pendingCall(), true)
  const turn = await room.ended(turnId)
  expect(noticesOf(turn)).toEqual([
    'A worker of the agent uses `write` without asking: `{"path":"/tmp/out\'x\'.txt","content":"hello"}`',
    'A worker of the agent uses `shell` without asking: `{"command":"rm a"}`',
  ])
  expect([textOf(turn), callsOf(turn.responseParts)]).toMatchObject(['done', [{ status: 'completed' }]])
})
