import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { choices } from '../access/choices.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import {
  complete,
  confirmed,
  content,
  providedBy,
  ready,
  registersTools,
  running,
  toolCallStarted,
} from '../../../test/tool-call-actions.ts'
import type { Client } from '../../../test/test-host.ts'
import { accepted, chat, chatOf, says, turn, twoClientSession } from '../../../test/two-client-session.ts'

const callsOf = (client: Client) => {
  const { activeTurn, turns } = client.state(chat) as unknown as ChatState
  const parts = (activeTurn ?? turns.at(-1))?.responseParts ?? []
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}
const provides = (clientId: string, ...tools: readonly object[]) => ({
  type: 'session/activeClientSet',
  activeClient: { clientId, displayName: clientId.toUpperCase(), tools },
})
const destructive = { name: 'x', annotations: { destructiveHint: true } }

test('[X9] an agent is offered the tools of all active clients, as they are now, and none that it has itself', async () => {
  const all = await twoClientSession(new ScriptedAgent({ tools: [{ name: 'lint' }] }))
  await accepted(all.ann, session, provides('ann', { name: 'x' }, { name: 'lint' }))
  const { chat: given } = await turn(all, 't1')
  const names = () => given.tools.list().map(({ name }) => name)
  expect(names()).toEqual(['x', 'ANN_lint'])
  await accepted(all.ben, session, provides('ben', { name: 'x' }))
  expect(names()).toEqual(['ANN_x', 'ANN_lint', 'BEN_x'])
  await accepted(all.ann, session, { type: 'session/activeClientRemoved', clientId: 'ann' })
  expect(names()).toEqual(['x'])
})

test('[X9] the agent waits for the end of a call: completed by its client, denied, or over with the turn', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, registersTools('ann'))
  const run = await turn(all, 't1', toolCallStarted(providedBy('ann')), running)
  const first = run.chat.tools.ended('c1')
  await accepted(all.ann, chat, complete)
  expect(await first).toMatchObject({ toolCallId: 'c1', status: 'completed', success: true })
  const other = { toolCallId: 'c2' }
  await says(all, run, toolCallStarted({ ...providedBy('ann'), ...other }), ready(other))
  const second = run.chat.tools.ended('c2')
  const denied = { turnId: 't1', ...other, approved: false, reason: 'denied' }
  await accepted(all.ben, chat, { type: 'chat/toolCallConfirmed', ...denied })
  expect(await second).toMatchObject({ status: 'cancelled', reason: 'denied' })
  const never = run.chat.tools.ended('no such call')
  run.end()
  await expect(never).rejects.toThrow('the turn is over')
})

test.each([
  ['not active', 'ben', 'The client that provides this tool has left'],
  ['unknown', 'stranger', 'The client that provides this tool has left'],
  ['active without the tool', 'ann', 'The client does not provide this tool'],
])('[X9.4] a call that names a client that is %s fails when it starts', async (_, clientId, message) => {
  const all = await twoClientSession()
  await accepted(all.ann, session, provides('ann', { name: 'other' }))
  const run = await turn(all, 't1', toolCallStarted(providedBy(clientId)))
  await all.ben.until(() => callsOf(all.ben)[0]?.status === 'completed')
  expect(callsOf(all.ben)).toMatchObject([{ toolCallId: 'c1', success: false, error: { message } }])
  expect(await run.chat.tools.ended('c1')).toMatchObject({ success: false })
  // Nothing that the agent says afterwards revives the call.
  await says(all, run, { type: 'chat/toolCallDelta', toolCallId: 'c1', content: '{}' }, running, ready())
  expect(callsOf(all.ben)).toMatchObject([{ status: 'completed', success: false, error: { message } }])
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  expect(chatOf(all).turns[0]?.state).toBe('complete')
})

test.each([
  ['complete a call', complete],
  ['show content of a call', content],
])('[X9] an agent may not %s of a client tool: its turn fails', async (_, action) => {
  const all = await twoClientSession()
  await accepted(all.ann, session, registersTools('ann'))
  const run = await turn(all, 't1', toolCallStarted(providedBy('ann')), running)
  run.say(action as Parameters<typeof run.say>[0])
  await until(() => chatOf(all).turns.length === 1)
  expect(chatOf(all).turns[0]).toMatchObject({
    state: 'error',
    responseParts: [
      { toolCall: { status: 'cancelled', reason: 'skipped' } },
      { error: { message: 'an agent may not report the progress or the result of a client tool' } },
    ],
  })
})

test('[X9.3] a destructive tool asks a person, even if the agent says that no confirmation is needed', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, provides('ann', destructive))
  await turn(all, 't1', toolCallStarted(providedBy('ann')), running)
  expect(callsOf(all.ann)[0]).toMatchObject({ status: 'pending-confirmation' })
  await accepted(all.ben, chat, confirmed)
  await accepted(all.ann, chat, complete)
  expect(callsOf(all.ann)[0]).toMatchObject({ status: 'completed', confirmed: 'user-action' })
})

/** A session with a window of VS Code, which provides a tool `x`, and Ann and Ben. */
async function withWindow(tool: object = { name: 'x' }) {
  const all = await twoClientSession()
  const window = all.link()
  window.clientId = 'window'
  const clientInfo = { name: 'vscode-editor-window', version: '1' }
  await window.ask('initialize', { protocolVersions: ['0.9.0'], clientId: 'window', clientInfo })
  for (const channel of [session, chat]) await window.ask('subscribe', { channel })
  await accepted(window, session, provides('window', tool))
  return { all, window }
}

const unasked = { ...confirmed, confirmed: 'not-needed' } as typeof confirmed

test('[X9.6] VS Code is not told that a call of its tool is confirmed: it would run the tool without asking', async () => {
  const { all, window } = await withWindow()
  await turn(all, 't1', toolCallStarted(providedBy('window')), running)
  expect(callsOf(all.ann)[0]).toMatchObject({ status: 'pending-confirmation' })
  const { rejectionReason } = await all.ben.echo(all.ben.dispatch(chat, unasked))
  expect(rejectionReason).toMatch('needs a user or a setting')
  await accepted(window, chat, unasked)
  await accepted(window, chat, complete)
  expect(callsOf(all.ann)[0]).toMatchObject({ status: 'completed', confirmed: 'not-needed' })
})

test('[X9.6] VS Code confirms no destructive tool without its user', async () => {
  const { all, window } = await withWindow(destructive)
  await turn(all, 't1', toolCallStarted(providedBy('window')), running)
  const { rejectionReason } = await window.echo(window.dispatch(chat, unasked))
  expect(rejectionReason).toMatch('needs a user or a setting')
  await accepted(window, chat, confirmed)
})

test('[X9.6] a permission confirms the next call of the same tool of VS Code', async () => {
  const { all, window } = await withWindow()
  const run = await turn(all, 't1', toolCallStarted(providedBy('window')), running)
  await accepted(all.ben, chat, { ...confirmed, selectedOptionId: choices.session } as typeof confirmed)
  await accepted(window, chat, complete)
  const second = { toolCallId: 'c2' }
  await says(all, run, toolCallStarted({ ...providedBy('window'), ...second }), ready(second))
  expect(callsOf(all.ann)[1]).toMatchObject({ status: 'running', confirmed: 'setting' })
})

test('[X9.6] the call of a client that is not connected is not confirmed either', async () => {
  const { all, window } = await withWindow()
  window.peer.close()
  await until(() => all.core().clients.versionOf('window') === undefined)
  await turn(all, 't1', toolCallStarted(providedBy('window')), running)
  expect(callsOf(all.ann)[0]).toMatchObject({ status: 'pending-confirmation' })
})

test('[X9.5] a permission for a tool of the agent covers no tool of a client, nor the other way round', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, provides('ann', destructive))
  await accepted(all.ben, session, provides('ben', destructive))
  const run = await turn(all, 't1', toolCallStarted(), ready())
  await accepted(all.ben, chat, { ...confirmed, selectedOptionId: choices.session } as typeof confirmed)
  const second = { toolCallId: 'c2' }
  await says(all, run, toolCallStarted({ ...providedBy('ann'), ...second }), ready(second))
  expect(callsOf(all.ann)[1]?.status).toBe('pending-confirmation')
  const always = { ...confirmed, ...second, selectedOptionId: choices.session }
  await accepted(all.ben, chat, always as typeof confirmed)
  const { config } = all.ann.state(session) as unknown as SessionState
  expect(config?.values['atrium.permissions']).toMatchObject([{ tool: 'x' }, { tool: 'client:ann/x' }])
  for (const [clientId, id, status] of [
    ['ann', 'c3', 'running'],
    ['ben', 'c4', 'pending-confirmation'],
  ] as const) {
    await says(
      all,
      run,
      toolCallStarted({ ...providedBy(clientId), toolCallId: id }),
      ready({ toolCallId: id }),
    )
    expect(callsOf(all.ann).find(({ toolCallId }) => toolCallId === id)?.status).toBe(status)
  }
})
