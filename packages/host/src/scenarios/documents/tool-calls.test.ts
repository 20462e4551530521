import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import {
  callsIn,
  chat as guideChat,
  desk,
  pending,
  say,
  state as guideState,
} from '../../../test/approvals.ts'
import { session } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'
import {
  call,
  complete,
  confirmed,
  content,
  providedBy,
  ready,
  result,
  toolCallStarted,
} from '../../../test/tool-call-actions.ts'
import {
  accepted,
  chat,
  chatOf,
  message,
  refused,
  says,
  sessionOf,
  turn,
  twoClientSession,
} from '../../../test/two-client-session.ts'
import type { AnyAction } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'

const options = [
  { id: 'yes', label: 'Approve', kind: 'approve', group: 1 },
  { id: 'always', label: 'Approve in this session', kind: 'approve', group: 1 },
  { id: 'no', label: 'Deny with a reason', kind: 'deny', group: 2 },
]
const inTurn = { type: 'chat/toolCallConfirmed', turnId: 't1', ...call }
const denied: AnyAction = { ...inTurn, approved: false, reason: 'denied' }
const lines = [{ type: 'text', text: 'two of four' }]
const delta = (text: string): AgentAction => ({ type: 'chat/toolCallDelta', ...call, content: text })

const callIn = (client: Client) => {
  const { activeTurn, turns } = client.state(chat) as unknown as ChatState
  const [part] = (activeTurn ?? turns.at(-1))?.responseParts ?? []
  return part?.kind === 'toolCall' ? part.toolCall : undefined
}
const tool = (name: string) => ({
  name,
  title: `Tool ${name}`,
  description: 'Runs the tests',
  inputSchema: { type: 'object', properties: { pattern: { type: 'string' } } },
})
const provides = (clientId: string, ...names: readonly string[]): AnyAction => ({
  type: 'session/activeClientSet',
  activeClient: { clientId, displayName: clientId, tools: names.map(tool) },
})

test('[X1] state model, Confirmation Options: the options are shown in their order, and the chosen one stays in the call', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1', toolCallStarted(), ready({ options }))
  expect(callIn(all.ann)).toMatchObject({ status: 'pending-confirmation', options })
  await accepted(all.ann, chat, { ...confirmed, selectedOptionId: 'always' })
  const selectedOption = options[1]
  expect(callIn(all.ann)).toMatchObject({ status: 'running', selectedOption })
  await says(all, run, { type: 'chat/toolCallComplete', ...call, ...result(true) } as AgentAction)
  run.end()
  await all.ben.until(() => (all.ben.state(chat) as unknown as ChatState).turns.length === 1)
  for (const client of [all.ann, all.ben])
    expect(callIn(client)).toMatchObject({ status: 'completed', selectedOption })
})

test('[X1] state model, Confirmation Options: a denial keeps the option, the message and the suggestion of the user', async () => {
  const all = await twoClientSession()
  await turn(all, 't1', toolCallStarted(), ready({ options }))
  const why = { reasonMessage: 'Not today', userSuggestion: message('look first') }
  await accepted(all.ben, chat, { ...denied, ...why, selectedOptionId: 'no' })
  expect(callIn(all.ben)).toMatchObject({
    status: 'cancelled',
    reason: 'denied',
    selectedOption: options[2],
    ...why,
  })
  expect(chatOf(all).activeTurn?.id).toBe('t1')
})

test('[X7] customizations, Registering Tools and Updating Tools: all subscribers see the tools, and a new list replaces the old', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, provides('ann', 'runUnitTests', 'build'))
  await accepted(all.ben, session, provides('ben', 'open'))
  const shown = () =>
    sessionOf(all).activeClients.map(({ clientId, tools }) => [clientId, ...tools.map(({ name }) => name)])
  expect(shown()).toEqual([
    ['ann', 'runUnitTests', 'build'],
    ['ben', 'open'],
  ])
  expect(sessionOf(all).activeClients[0]?.tools[0]).toEqual(tool('runUnitTests'))
  await accepted(all.ann, session, provides('ann', 'lint'))
  expect(shown()).toEqual([
    ['ann', 'lint'],
    ['ben', 'open'],
  ])
  await all.ben.until(() => all.ben.lastSeen >= all.ann.lastSeen)
  expect(all.ben.state(session)).toEqual(sessionOf(all))
})

test('[X7] customizations, Executing a Client Tool Call: the client sees the input, runs the tool, reports and completes', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, provides('ann', 'runUnitTests'))
  const run = await turn(
    all,
    't1',
    toolCallStarted({ ...providedBy('ann'), toolName: 'runUnitTests' }),
    delta('{"pat'),
    delta('tern":"a"}'),
  )
  expect(callIn(all.ann)).toMatchObject({
    status: 'streaming',
    partialInput: '{"pattern":"a"}',
    ...providedBy('ann'),
  })
  await says(all, run, ready({ toolInput: '{"pattern":"a"}', confirmed: 'not-needed' }))
  expect(callIn(all.ann)).toMatchObject({ status: 'running', toolInput: '{"pattern":"a"}' })
  await accepted(all.ann, chat, { ...content, content: lines })
  await accepted(all.ann, chat, { ...content, content: [...lines, ...lines] })
  await all.ben.until(() => JSON.stringify(callIn(all.ben)).split('two of four').length === 3)
  const only = 'only the client that provides a tool can report its progress and result'
  for (const action of [content, complete])
    expect((await all.ben.echo(all.ben.dispatch(chat, action))).rejectionReason).toBe(only)
  await accepted(all.ann, chat, complete)
  await until(() => run.waits)
  expect(callIn(all.ann)).toMatchObject({ status: 'completed', success: true })
  run.end()
  await all.ben.until(() => (all.ben.state(chat) as unknown as ChatState).turns.length === 1)
  expect(callIn(all.ben)).toEqual(callIn(all.ann))
})

test('[X1] customizations, Executing a Client Tool Call: a call that is not confirmed asks a user first', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, provides('ann', 'runUnitTests'))
  await turn(
    all,
    't1',
    toolCallStarted({ ...providedBy('ann'), toolName: 'runUnitTests' }),
    ready({ toolInput: '{}' }),
  )
  expect(await refused(all, chat, complete)).toBe('this tool call is not running')
  await accepted(all.ben, chat, confirmed)
  await accepted(all.ann, chat, complete)
  expect(callIn(all.ann)).toMatchObject({ status: 'completed', confirmed: 'user-action' })
})

test('[X1] customizations, Denying an Unrecognized Tool: the client denies its waiting call, and the turn goes on', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, provides('ann', 'lint'))
  const run = await turn(all, 't1', toolCallStarted({ ...providedBy('ann'), toolName: 'lint' }), ready())
  await accepted(all.ann, chat, denied)
  expect(callIn(all.ann)).toMatchObject({ status: 'cancelled', reason: 'denied' })
  run.end()
  await all.ann.until(() => (all.ann.state(chat) as unknown as ChatState).turns.length === 1)
  expect(chatOf(all).turns).toMatchObject([{ id: 't1', state: 'complete' }])
})

test('[X1.1] state model, Confirmation Options: the ids are fixed, and clients of all languages see the same labels', async () => {
  const { all, ann } = await desk()
  const ben = all.link()
  ben.clientId = 'ben'
  await ben.ask('initialize', {
    protocolVersions: ['1.0.0'],
    clientId: 'ben',
    locale: 'de-DE',
    initialSubscriptions: [guideChat],
  })
  await say(ben, 'run ls')
  await Promise.all([pending(ann), pending(ben)])
  const [seen, other] = [ann, ben].map((client) => {
    const [call] = callsIn(guideState(client).activeTurn)
    return call?.status === 'pending-confirmation' ? call.options : undefined
  })
  expect(seen?.map(({ id, label }) => [id, label])).toEqual([
    ['atrium.once', 'Allow once'],
    ['atrium.session', 'Allow in this session'],
    ['atrium.folder', 'Always allow in this folder'],
    ['atrium.deny', 'Deny'],
    ['atrium.deny-why', 'Deny with a reason'],
  ])
  expect(other).toEqual(seen)
})
