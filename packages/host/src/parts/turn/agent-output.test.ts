import type { SessionState } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { toolCallStarted, call, confirmed, providedBy, ready } from '../../../test/tool-call-actions.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import {
  accepted,
  chat,
  chatOf,
  message,
  says,
  twoClientSession,
  sessionOf,
  started,
  becomeActive,
  turn,
} from '../../../test/two-client-session.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import { callIn } from '@atrium/protocol/chat/calls'
import { permissionsKey } from '../access/tool-permissions.ts'
import type { AgentAction } from '../../ports/agent.ts'

async function stage() {
  const terminals = fakeTerminals()
  const all = await twoClientSession(new ScriptedAgent(), { machine: { terminals } })
  return { all, terminals }
}

test.each(['user-action', 'setting', 'some-day'])(
  '[X4] I7: a call that its agent marks as confirmed (%s) counts as not-needed, and may not run a command',
  async (confirmed) => {
    const { all, terminals } = await stage()
    const run = await turn(all, 't1', toolCallStarted(), ready({ confirmed }))
    expect(callIn(chatOf(all), 'c1')).toMatchObject({ status: 'running', confirmed: 'not-needed' })
    await expect(run.chat.run({ ...call, line: 'ls' })).rejects.toThrow('nobody has approved this tool call')
    expect(terminals.shells).toEqual([])
  },
)

test('[X7] for a client tool the agent itself may not run a command', async () => {
  const { all, terminals } = await stage()
  await becomeActive(all.ann)
  const run = await turn(all, 't1', toolCallStarted(providedBy('ann')), ready())
  await accepted(all.ann, chat, confirmed)
  await expect(run.chat.run({ ...call, line: 'ls' })).rejects.toThrow('runs in the client that provides it')
  expect(terminals.shells).toEqual([])
})

const running = {
  ...call,
  toolName: 'x',
  displayName: 'X',
  status: 'running',
  invocationMessage: 'X',
  confirmed: 'user-action',
}

test.each([
  ['its own approval', { type: 'chat/toolCallConfirmed', ...call, approved: true, confirmed: 'user-action' }],
  ['a confirmation of a result', { type: 'chat/toolCallResultConfirmed', ...call, approved: true }],
  [
    'a call that was never started',
    { type: 'chat/responsePart', part: { kind: 'toolCall', toolCall: running } },
  ],
  ['a permission', { type: 'session/configChanged', config: { [permissionsKey]: [{ id: 'p', tool: 'x' }] } }],
])('[X4] I7: an agent that yields %s fails its turn, and nothing is changed', async (_, output) => {
  const { all, terminals } = await stage()
  await accepted(all.ann, chat, started('t1'))
  const run = await all.agent.given(0)
  run.say(toolCallStarted(), ready(), output as unknown as AgentAction)
  await all.ann.until(() => chatOf(all).turns.length === 1)
  expect(chatOf(all).turns[0]).toMatchObject({
    state: 'error',
    responseParts: [
      { toolCall: { status: 'cancelled', reason: 'skipped' } },
      { error: { errorType: 'agent' } },
    ],
  })
  expect((sessionOf(all, session) as SessionState).config?.values[permissionsKey]).toBeUndefined()
  expect(terminals.shells).toEqual([])
})

test('[V9] an agent that sets the `_meta` of its session cannot change what the host keeps there', async () => {
  const { all } = await stage()
  const model = { id: 'm' }
  await accepted(all.ann, chat, started('t1', 'go', { message: { ...message('go'), model } }))
  const run = await all.agent.given()
  const forged = { selection: { model: { id: 'other' } }, deferred: 5 }
  await says(all, run, { type: 'session/metaChanged', _meta: { mine: 1, 'x-atrium': forged } })
  expect(sessionOf(all)._meta).toEqual({ mine: 1, 'x-atrium': { selection: { model } } })
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  await turn(all, 't2', { type: 'session/metaChanged' })
  expect(sessionOf(all)._meta).toEqual({ mine: 1, 'x-atrium': { selection: { model } } })
})

test('[V9] an agent cannot add to a session what only the host keeps there', async () => {
  const { all } = await stage()
  await turn(all, 't1', { type: 'session/metaChanged', _meta: { 'x-atrium': { deferred: [5] } } })
  expect(sessionOf(all)._meta ?? {}).not.toHaveProperty('x-atrium')
})
