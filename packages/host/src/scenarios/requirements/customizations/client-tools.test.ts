import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { ScriptedAgent, until } from '../../../../test/scripted-agent.ts'
import type { Run } from '../../../../test/scripted-agent.ts'
import { call, providedBy, ready, toolCallStarted } from '../../../../test/tool-call-actions.ts'
import { says } from '../../../../test/two-client-session.ts'
import type { OlderClient, Value } from '../../../../test/versions/older-client.ts'
import {
  caughtUp,
  does,
  ends,
  envelopesOf,
  expectInStep,
  isRefused,
  olderSession,
  partsOf,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import type { OlderSession } from '../../../../test/versions/older-session.ts'
import type { AgentAction } from '../../../ports/agent.ts'

const version = '0.1.0'
const tool = (name: string) => ({
  name,
  title: `Tool ${name}`,
  description: 'Runs the tests',
  inputSchema: { type: 'object', properties: { pattern: { type: 'string' } } },
})
const claims = (clientId: string, ...names: readonly string[]) => ({
  type: 'session/activeClientChanged',
  activeClient: { clientId, displayName: clientId, tools: names.map(tool) },
})
const inTurn = { turnId: 't1', ...call }
const denies = { type: 'session/toolCallConfirmed', ...inTurn, approved: false, reason: 'denied' }
const reports = (text: string) => ({
  type: 'session/toolCallContentChanged',
  ...inTurn,
  content: [{ type: 'text', text }],
})
const completes = (success = true) => ({
  type: 'session/toolCallComplete',
  ...inTurn,
  result: { success, pastTenseMessage: 'Ran the tests', content: [{ type: 'text', text: 'ok' }] },
})
const begins = toolCallStarted({ ...providedBy('ann'), toolName: 'runUnitTests' })
const writes = (content: string): AgentAction => ({ type: 'chat/toolCallDelta', ...call, content })
const input = '{"pattern":"a"}'

/** A session in which Ann is active, and a turn that calls her tool. */
async function calling(...actions: readonly AgentAction[]): Promise<OlderSession & { readonly run: Run }> {
  const all = await olderSession(version)
  await does(all.ann, all.session, claims('ann', 'runUnitTests'))
  return { ...all, run: await turnOf(all, 't1', begins, ...actions) }
}

function callOf(client: OlderClient, session: string): Value {
  const [part] = partsOf(client, session)
  return part?.['toolCall'] as Value
}

test('[R002-27 R002-29 R002-32 R002-33 R002-34] tools come from the host and from the active client, whose tools all subscribers see in the state', async () => {
  const agent = new ScriptedAgent({ tools: [{ name: 'grep' }] })
  const all = await olderSession(version, { agent })
  const { ann, ben, session } = all
  const activeClient = {
    ...claims('ann', 'runUnitTests').activeClient,
    tools: [tool('runUnitTests'), { name: 'open' }],
    customizations: [{ uri: 'https://x.example/kit', displayName: 'Kit' }],
  }
  const echo = await does(ann, session, { type: 'session/activeClientChanged', activeClient })
  expect(echo.action).toEqual({ type: 'session/activeClientChanged', activeClient, session })
  await caughtUp(ben)
  expect(ben.state(session)).toMatchObject({ serverTools: [{ name: 'grep' }], activeClient })
  const run = await turnOf(all, 't1')
  expect(run.chat.tools.list().map(({ name }) => name)).toEqual(['runUnitTests', 'open'])
  await expectInStep(all)
})

test('[R002-35 R002-36] both actions replace the whole list of tools', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const names = () =>
    ((ben.state(session)['activeClient'] as Value)['tools'] as readonly Value[]).map(({ name }) => name)
  await does(ann, session, claims('ann', 'a', 'b'))
  await does(ann, session, { type: 'session/activeClientToolsChanged', tools: [tool('c')] })
  await caughtUp(ben)
  expect(names()).toEqual(['c'])
  expect(ben.state(session)['activeClient']).toMatchObject({ clientId: 'ann', displayName: 'ann' })
  await does(ann, session, claims('ann', 'd'))
  await caughtUp(ben)
  expect(names()).toEqual(['d'])
  await isRefused(ben, session, { type: 'session/activeClientToolsChanged', tools: [] })
  await expectInStep(all)
})

test('[R002-37 R002-38] the tools of host and client share one namespace, in which an agent gets unique names', async () => {
  const agent = new ScriptedAgent({ tools: [{ name: 'run' }] })
  const all = await olderSession(version, { agent })
  const { ann, ben, session } = all
  await does(ann, session, claims('ann', 'run', 'open'))
  const run = await turnOf(all, 't1')
  const offered = run.chat.tools.list()
  expect(offered.map(({ name, definition }) => [name, definition.name])).toEqual([
    ['ann_run', 'run'],
    ['open', 'open'],
  ])
  const [first] = offered
  await says(all, run, {
    type: 'chat/toolCallStart',
    ...call,
    toolName: String(first?.definition.name),
    displayName: String(first?.displayName),
    contributor: first?.contributor,
  } as AgentAction)
  await caughtUp(ben)
  // On the wire the owner tells the two apart.
  expect(callOf(ben, session)).toMatchObject({ toolName: 'run', toolClientId: 'ann' })
})

test('[R002-28 R002-30 R002-31 R002-39 R002-40 R002-41 R002-42 R002-43 R002-44 R002-45] the call names its client, which sees the input, runs the tool, reports, and ends the call; nobody else may', async () => {
  const all = await calling(writes('{"pat'), writes('tern":"a"}'))
  const { ann, ben, session, run } = all
  await caughtUp(ann)
  expect(envelopesOf(ann, 'session/toolCallStart')[0]?.action).toMatchObject({
    ...inTurn,
    toolName: 'runUnitTests',
    toolClientId: 'ann',
    session,
  })
  expect(
    envelopesOf(ann, 'session/toolCallDelta')
      .map(({ action }) => action['content'])
      .join(''),
  ).toBe(input)
  expect(callOf(ann, session)).toMatchObject({
    status: 'streaming',
    partialInput: input,
    toolClientId: 'ann',
  })
  await says(all, run, ready({ toolInput: input, confirmed: 'not-needed' }))
  await caughtUp(ann)
  expect(callOf(ann, session)).toMatchObject({ status: 'running', toolInput: input, confirmed: 'not-needed' })
  for (const text of ['1 of 2', '2 of 2']) {
    await does(ann, session, reports(text))
    await caughtUp(ben)
    expect(callOf(ben, session)).toMatchObject({ content: [{ type: 'text', text }] })
  }
  for (const action of [reports('x'), completes()])
    expect(await isRefused(ben, session, action)).toMatch(/only the client that provides/)
  await does(ann, session, completes())
  await caughtUp(ben)
  expect(callOf(ben, session)).toMatchObject({
    status: 'completed',
    success: true,
    toolClientId: 'ann',
    content: [{ text: 'ok' }],
  })
  expect(run.chat.state.activeTurn?.responseParts).toMatchObject([{ toolCall: { status: 'completed' } }])
  await ends(all, run)
  await expectInStep(all)
})

test('[R002-41] a call that is not confirmed asks a user first', async () => {
  const all = await calling(ready({ toolInput: input }))
  const { ann, ben, session } = all
  await caughtUp(ann)
  expect(callOf(ann, session)).toMatchObject({ status: 'pending-confirmation', toolInput: input })
  await isRefused(ann, session, reports('early'))
  await does(ben, session, {
    type: 'session/toolCallConfirmed',
    ...inTurn,
    approved: true,
    confirmed: 'user-action',
  })
  await caughtUp(ann)
  expect(callOf(ann, session)).toMatchObject({ status: 'running', confirmed: 'user-action' })
  await does(ann, session, completes())
  await expectInStep(all)
})

test.each([
  ['[R002-46] a waiting', ready({ toolInput: input })],
  ['[R002-47] a running', ready({ toolInput: input, confirmed: 'not-needed' })],
])(
  '%s call whose tool its client does not know is denied by the client, and the turn goes on',
  async (_, action) => {
    const all = await calling(action)
    const { ann, ben, session, run } = all
    await caughtUp(ann)
    const { rejectionReason } = await ann.echo(ann.dispatch(session, denies))
    expect(rejectionReason).toBeUndefined()
    await ben.until(() => /cancelled|completed/.test(String(callOf(ben, session)['status'])))
    const { status, success } = callOf(ben, session)
    expect([status, success]).toEqual(
      status === 'cancelled' ? ['cancelled', undefined] : ['completed', false],
    )
    await ends(all, run)
    expect(ben.state(session)['turns']).toMatchObject([{ id: 't1', state: 'complete' }])
    await expectInStep(all)
  },
)

test('[R002-49] a client that comes back in time goes on with its call', async () => {
  const all = await calling(ready({ toolInput: input, confirmed: 'not-needed' }))
  const { ann, ben, session } = all
  ann.unplug()
  await until(() => !all.core().clients.links.has('ann'))
  all.world.advance(limits.toolGraceMs - 1)
  await caughtUp(ben)
  expect(callOf(ben, session)).toMatchObject({ status: 'running' })
  await ann.reconnect()
  all.world.advance(limits.toolGraceMs)
  await does(ann, session, completes())
  await caughtUp(ben)
  expect(callOf(ben, session)).toMatchObject({ status: 'completed', success: true })
  await expectInStep(all)
})

test('[R002-50 R002-51] the running call of a client that does not come back fails, with a message', async () => {
  const all = await calling(ready({ toolInput: input, confirmed: 'not-needed' }))
  const { ann, ben, session, run } = all
  ann.unplug()
  await until(() => !all.core().clients.links.has('ann'))
  all.world.advance(limits.toolGraceMs)
  await ben.until(() => callOf(ben, session)['status'] === 'completed')
  expect(callOf(ben, session)).toMatchObject({
    success: false,
    error: { message: expect.stringMatching(/has left/) },
  })
  const [sent] = envelopesOf(ben, 'session/toolCallComplete')
  expect(sent?.action).toMatchObject({ ...inTurn, session, result: { success: false } })
  expect(sent).not.toHaveProperty('origin')
  await until(() => run.waits)
  run.end()
  await ben.until(() => (ben.state(session)['turns'] as readonly unknown[]).length === 1)
})
