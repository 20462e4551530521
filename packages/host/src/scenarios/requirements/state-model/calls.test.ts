import { expect, test } from 'vitest'
import { call, complete, ready, toolCallStarted, unseen } from '../../../../test/tool-call-actions.ts'
import { says } from '../../../../test/two-client-session.ts'
import type { Value } from '../../../../test/versions/older-client.ts'
import {
  does,
  ends,
  envelopesOf,
  expectInStep,
  fresh,
  isRefused,
  olderSession,
  partsOf,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import type { OlderSession } from '../../../../test/versions/older-session.ts'
import type { AgentAction } from '../../../ports/agent.ts'

const version = '0.1.0'
const inTurn = { turnId: 't1', ...call }
const writes = (content: string, more: object = {}): AgentAction => ({
  type: 'chat/toolCallDelta',
  ...call,
  content,
  ...more,
})
const completes = (more: object): AgentAction =>
  ({ type: 'chat/toolCallComplete', ...call, ...more }) as AgentAction
const approve = (more: object = {}) => ({
  type: 'session/toolCallConfirmed',
  ...inTurn,
  approved: true,
  confirmed: 'user-action',
  ...more,
})
const deny = (more: object = {}) => ({
  type: 'session/toolCallConfirmed',
  ...inTurn,
  approved: false,
  reason: 'denied',
  ...more,
})
const options = [
  { id: 'yes', label: 'Approve', kind: 'approve', group: 1 },
  { id: 'always', label: 'Approve in this session', kind: 'approve', group: 1 },
  { id: 'no', label: 'Deny', kind: 'deny', group: 2 },
  { id: 'why', label: 'Deny with a reason', kind: 'deny', group: 2 },
]
const edits = {
  items: [
    {
      before: { uri: 'file:///w/a', content: { uri: 'file:///w/a' } },
      after: { uri: 'file:///w/a', content: { uri: 'file:///w/b' } },
      diff: { added: 1, removed: 2 },
    },
  ],
}

/** The call as Ben has it. Both clients have the state that a new subscriber gets. */
async function callOf(all: OlderSession): Promise<Value> {
  await expectInStep(all)
  const { ben, session } = all
  await ben.ask('ping', {})
  const [part] = partsOf(ben, session)
  expect(part?.['kind']).toBe('toolCall')
  return part?.['toolCall'] as Value
}

/** The call in a new snapshot. The reducers of 0.1 keep the `_meta` with which a call began, so only a snapshot has a later one. */
async function newest(all: OlderSession): Promise<Value> {
  const { activeTurn } = (await fresh(all, all.session)) as {
    readonly activeTurn: { readonly responseParts: readonly { readonly toolCall: Value }[] }
  }
  return activeTurn.responseParts[0]?.toolCall ?? {}
}

const base = { ...call, toolName: 'x', displayName: 'X' }

test('[R000-99 R000-100 R000-101 R000-105 R000-106 R000-107 R001-76 R001-77 R001-78 R001-79 R001-80 R001-82 R001-83 R001-84 R001-90 R001-92 R001-93 R001-94 R001-95] a call goes from `streaming` to `completed`; its status decides which members it has', async () => {
  const all = await olderSession(version)
  const { ann, session } = all
  const run = await turnOf(
    all,
    't1',
    toolCallStarted(),
    writes('{"a'),
    writes('":1}', { invocationMessage: 'Wri…' }),
  )
  const streaming = { ...base, status: 'streaming', partialInput: '{"a":1}', invocationMessage: 'Wri…' }
  expect(await callOf(all)).toEqual(streaming)
  const asked = { invocationMessage: 'Writing a', toolInput: '{"a":1}' }
  await says(all, run, ready(asked))
  const waiting = await callOf(all)
  expect(waiting).toMatchObject({ ...base, status: 'pending-confirmation', ...asked })
  expect(waiting).not.toHaveProperty('partialInput')
  await does(ann, session, approve())
  expect(await callOf(all)).toEqual({ ...base, status: 'running', ...asked, confirmed: 'user-action' })
  const content = [
    { type: 'text', text: 'half' },
    { type: 'terminal', resource: 'ahp-terminal:/t', title: 'Shell' },
  ]
  await says(all, run, { type: 'chat/toolCallContentChanged', ...call, content } as AgentAction)
  expect(await callOf(all)).toMatchObject({ status: 'running', content })
  const said = {
    success: true,
    pastTenseMessage: 'Wrote a',
    content: [
      { type: 'text', text: 'all' },
      { type: 'embeddedResource', data: 'aGk=', contentType: 'text/plain' },
    ],
    structuredContent: { lines: [1, { deep: null }] },
  }
  await says(all, run, completes({ result: said, requiresResultConfirmation: true }))
  const ran = { ...base, ...asked, confirmed: 'user-action', ...said }
  expect(await callOf(all)).toEqual({ ...ran, status: 'pending-result-confirmation' })
  await does(ann, session, { type: 'session/toolCallResultConfirmed', ...inTurn, approved: true })
  expect(await callOf(all)).toEqual({ ...ran, status: 'completed' })
  await ends(all, run)
  expect(await callOf(all)).toEqual({ ...ran, status: 'completed' })
})

test('[R000-102 R000-103 R000-104 R001-85 R001-86 R001-87] a call that waits shows its title, the changes to files, whether its input may be changed, its options and more about it', async () => {
  const all = await olderSession(version)
  const more = {
    confirmationTitle: 'Write it?',
    toolInput: 'x',
    edits,
    editable: true,
    options,
    _meta: { risk: 'low' },
  }
  await turnOf(all, 't1', toolCallStarted(), ready(more))
  expect(await newest(all)).toEqual({
    ...base,
    status: 'pending-confirmation',
    invocationMessage: 'X',
    ...more,
  })
  expect(envelopesOf(all.ben, 'session/toolCallReady')[0]?.action).toMatchObject(more)
})

test('[R000-109 R000-111 R001-84] a running call that asks again waits again, with the new message, and is answered like every other', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const first = ready({ toolInput: 'ls', confirmed: 'not-needed' })
  const run = await turnOf(all, 't1', toolCallStarted(), first)
  expect(await callOf(all)).toMatchObject({ status: 'running', confirmed: 'not-needed' })
  const again = { invocationMessage: 'May it delete?', toolInput: 'rm', _meta: { why: 'delete' } }
  await says(all, run, ready(again))
  expect(await newest(all)).toMatchObject({ ...base, status: 'pending-confirmation', ...again })
  const sent = envelopesOf(ben, 'session/toolCallReady').at(-1)?.action
  expect(sent).toMatchObject({ ...again, session })
  expect(sent).not.toHaveProperty('confirmed')
  await does(ann, session, approve())
  await all.ben.ask('ping', {})
  expect(await newest(all)).toMatchObject({ status: 'running', confirmed: 'user-action', toolInput: 'rm' })
})

test('[R000-112 R000-113 R000-114] the input that a user has changed takes the place of the original one', async () => {
  const all = await olderSession(version)
  const run = await turnOf(all, 't1', toolCallStarted(), ready({ toolInput: 'ls', editable: true }))
  await does(all.ben, all.session, approve({ editedToolInput: 'ls -l' }))
  expect(await callOf(all)).toMatchObject({ status: 'running', toolInput: 'ls -l' })
  const [part] = run.chat.state.activeTurn?.responseParts ?? []
  expect(part).toMatchObject({ toolCall: { status: 'running', toolInput: 'ls -l' } })
})

test.each(['complete', 'cancelled', 'error'] as const)(
  '[R000-115] the unfinished calls of a turn that ends as %s are cancelled as `skipped`, a finished one stays',
  async (end) => {
    const all = await olderSession(version)
    const { ann, ben, session } = all
    const of = (toolCallId: string, action: AgentAction) => ({ ...action, toolCallId }) as AgentAction
    const run = await turnOf(
      all,
      't1',
      of('streaming', toolCallStarted()),
      of('waiting', toolCallStarted()),
      of('waiting', ready({ toolInput: 'ls' })),
      of('running', toolCallStarted()),
      of('running', ready({ confirmed: 'not-needed' })),
      of('unseen', toolCallStarted()),
      of('unseen', ready({ confirmed: 'not-needed' })),
      of('unseen', unseen),
      of('done', toolCallStarted()),
      of('done', ready({ confirmed: 'not-needed' })),
      of('done', completes({ result: { success: true, pastTenseMessage: 'X' } })),
    )
    if (end === 'cancelled') await does(ann, session, { type: 'session/turnCancelled', turnId: 't1' })
    else if (end === 'error') run.fail(new Error('x'))
    else run.end()
    await ben.until(() => ben.state(session)['activeTurn'] === undefined)
    expect(ben.state(session)['turns']).toMatchObject([{ id: 't1', state: end }])
    const calls = partsOf(ben, session).flatMap((part) => (part['toolCall'] as Value | undefined) ?? [])
    const skipped = { status: 'cancelled', reason: 'skipped' }
    expect(calls).toMatchObject([
      { toolCallId: 'streaming', ...skipped },
      { toolCallId: 'waiting', ...skipped, toolInput: 'ls' },
      { toolCallId: 'running', ...skipped },
      { toolCallId: 'unseen', ...skipped },
      { toolCallId: 'done', status: 'completed' },
    ])
    await expectInStep(all)
  },
)

test.each([
  ['yes', approve(), 'running'],
  ['no', deny(), 'cancelled'],
] as const)('[R000-116] a call without options is answered with %s', async (_, answer, status) => {
  const all = await olderSession(version)
  await turnOf(all, 't1', toolCallStarted(), ready({ options: [] }))
  expect((await callOf(all))['options'] ?? []).toEqual([])
  await does(all.ben, all.session, answer)
  expect(await callOf(all)).toMatchObject({ status })
})

test('[R000-117 R000-118 R000-119 R000-121 R000-122 R000-123 R000-124 R001-88 R001-91 R001-94 R001-95] options come in their order with groups; the chosen one is kept whole in the running, waiting and completed call', async () => {
  const all = await olderSession(version)
  const { ben, session } = all
  const run = await turnOf(all, 't1', toolCallStarted(), ready({ options }))
  expect((await callOf(all))['options']).toEqual(options)
  await isRefused(ben, session, approve({ selectedOptionId: 'no' }))
  await does(ben, session, approve({ selectedOptionId: 'always' }))
  const kept = { confirmed: 'user-action', selectedOption: options[1] }
  expect(await callOf(all)).toMatchObject({ status: 'running', ...kept })
  await says(all, run, unseen)
  expect(await callOf(all)).toMatchObject({ status: 'pending-result-confirmation', ...kept })
  await does(ben, session, { type: 'session/toolCallResultConfirmed', ...inTurn, approved: true })
  expect(await callOf(all)).toMatchObject({ status: 'completed', ...kept })
})

test('[R000-108 R000-121 R000-124 R001-96 R001-97 R001-98 R001-99] a denied call is cancelled, with the reason, a message, what the user wants in place of it, and the option', async () => {
  const all = await olderSession(version)
  const { ben, session } = all
  await turnOf(all, 't1', toolCallStarted(), ready({ options }))
  await isRefused(ben, session, deny({ selectedOptionId: 'yes' }))
  const why = { reasonMessage: 'Not today', userSuggestion: { text: 'look first' } }
  await does(ben, session, deny({ ...why, selectedOptionId: 'why' }))
  expect(await callOf(all)).toMatchObject({
    status: 'cancelled',
    reason: 'denied',
    selectedOption: options[3],
    ...why,
  })
  expect(all.ann.state(session)['activeTurn']).toMatchObject({ id: 't1' })
})

test('[R000-106 R000-108 R001-96] a result that is denied, and a call that is skipped, are cancelled with their reasons', async () => {
  const all = await olderSession(version)
  const { ann, session } = all
  const run = await turnOf(all, 't1', toolCallStarted(), ready({ confirmed: 'not-needed' }), unseen)
  expect(await callOf(all)).toMatchObject({ status: 'pending-result-confirmation', confirmed: 'not-needed' })
  await does(ann, session, { type: 'session/toolCallResultConfirmed', ...inTurn, approved: false })
  const denied = await callOf(all)
  expect(denied).toMatchObject({ status: 'cancelled', reason: 'result-denied' })
  expect(denied).not.toHaveProperty('success')
  const other = { toolCallId: 'c2' }
  await says(
    all,
    run,
    { ...toolCallStarted(), ...other } as AgentAction,
    { ...ready(), ...other } as AgentAction,
  )
  await does(ann, session, deny({ ...other, reason: 'skipped' }))
  const parts = (ann.state(session)['activeTurn'] as Value)['responseParts'] as readonly Value[]
  expect(parts[1]).toMatchObject({ toolCall: { ...other, status: 'cancelled', reason: 'skipped' } })
})

test('[R000-107 R001-81 R001-95] a tool that failed says so, with a message and a code', async () => {
  const all = await olderSession(version)
  const run = await turnOf(all, 't1', toolCallStarted(), ready({ confirmed: 'not-needed' }))
  const failed = {
    success: false,
    pastTenseMessage: 'Tried X',
    error: { message: 'No such file', code: 'ENOENT' },
  }
  await says(all, run, completes({ result: failed }))
  expect(await callOf(all)).toMatchObject({ status: 'completed', confirmed: 'not-needed', ...failed })
  await isRefused(all.ann, all.session, { ...complete, type: 'session/toolCallComplete' })
})
