import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { asks, toolCallStarted, call, ready, unseen } from '../../test/tool-call-actions.ts'
import { FakeFiles } from '../../test/fake-files.ts'
import { ScriptedAgent, until } from '../../test/scripted-agent.ts'
import { accepted, chat, chatOf, twoClientSession, sessionOf, turn } from '../../test/two-client-session.ts'
import type { TwoClientSession } from '../../test/two-client-session.ts'
import { fakeTerminals } from '../../test/fake-terminals.ts'
import type { Run } from '../../test/scripted-agent.ts'
import type { AgentAction } from '../ports/agent.ts'

/** Actions that only users may dispatch, sent by an agent. */
const yes = { type: 'chat/toolCallConfirmed', ...call, approved: true, confirmed: 'user-action' }
const seen = { type: 'chat/toolCallResultConfirmed', ...call, approved: true }
const filled = { type: 'chat/inputAnswerChanged', requestId: 'r1', questionId: 'name' }
const agreed = { type: 'chat/inputCompleted', requestId: 'r1', response: 'accept' }
const part = (it: object) => ({ type: 'chat/responsePart', part: it })
const running = { ...call, toolName: 'x', displayName: 'X', status: 'running', invocationMessage: 'X' }
const folder = (type: string) => ({ type: `chat/workingDirectory${type}`, directory: 'file:///trusted' })
const allow = (more: object = {}) => ({
  type: 'session/configChanged',
  config: { 'atrium.permissions': [{ id: 'mine', tool: 'x' }] },
  ...more,
})

async function desk() {
  const files = new FakeFiles()
  files.put('/a/a.txt', 'x')
  const terminals = fakeTerminals((shell) => shell.exit(0))
  return {
    files,
    terminals,
    all: await twoClientSession(new ScriptedAgent(), { machine: { files, terminals } }),
  }
}

const callOf = ({ activeTurn }: ChatState) => {
  const [part] = activeTurn?.responseParts ?? []
  return part?.kind === 'toolCall' ? part.toolCall : undefined
}
const failed = async (all: TwoClientSession) => {
  await until(() => chatOf(all).turns.length === 1)
  const part = chatOf(all).turns[0]?.responseParts.at(-1)
  return part?.kind === 'error' ? part.error : undefined
}

test.each([
  ['that a call is allowed', [toolCallStarted(), ready()], yes],
  ['that a result is', [toolCallStarted(), ready({ confirmed: 'not-needed' }), unseen], seen],
  ['an answer to its own question', [asks], filled],
  ['agreement to its own question', [asks], agreed],
  ['that a queued message is gone', [], { type: 'chat/pendingMessageRemoved', kind: 'queued', id: 'q' }],
  [
    'a call as a part, approved',
    [],
    part({ kind: 'toolCall', toolCall: { ...running, confirmed: 'user-action' } }),
  ],
  [
    'a question as a part, answered',
    [],
    part({ kind: 'inputRequest', request: { id: 'r1' }, response: 'accept' }),
  ],
  ['where its chat works', [], folder('Set')],
  ['where it works no more', [], folder('Removed')],
  ['what it may do from now on', [toolCallStarted(), ready()], allow()],
  ['the same, with all else that is set', [toolCallStarted(), ready()], allow({ replace: true })],
] as const)(
  '[X1.5] [X1] S-35: an agent that sends %s, which only users may, has failed',
  async (_, said, forged) => {
    const { all } = await desk()
    const run = await turn(all, 't1', ...said)
    const message = { text: 'later', origin: { kind: 'user' } }
    await accepted(all.ann, chat, { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message })
    const before = sessionOf(all).config
    run.say(forged as unknown as AgentAction)
    expect(await failed(all)).toMatchObject({ errorType: 'agent' })
    expect(chatOf(all).queuedMessages).toMatchObject([{ id: 'q' }])
    expect(sessionOf(all).config).toEqual(before)
  },
)

test('[H8] an agent that stops waiting withdraws its question', async () => {
  const { all } = await desk()
  await turn(all, 't1', asks, { ...agreed, response: 'cancel' } as AgentAction)
  expect(chatOf(all).activeTurn?.responseParts).toMatchObject([{ response: 'cancel' }])
})

test("[X2] an agent that replaces its session's config does not remove the users' permissions", async () => {
  const { all } = await desk()
  const permissions = [{ id: 'p', tool: 'x' }]
  const allowed = { type: 'session/configChanged', config: { 'atrium.permissions': permissions } }
  await accepted(all.ann, 'ahp-session:/one', allowed)
  await turn(all, 't1', {
    type: 'session/configChanged',
    config: { tone: 'brief' },
    replace: true,
  } as AgentAction)
  expect(sessionOf(all).config?.values).toEqual({ tone: 'brief', 'atrium.permissions': permissions })
})

const acts: readonly (readonly [what: string, act: (run: Run) => Promise<unknown>])[] = [
  ['run', ({ chat: it }) => it.run({ ...call, line: 'ls' })],
  ['write', ({ chat: it }) => it.files.apply('c1', 'a.txt', { text: 'y' })],
]
test.each(
  ['user-action', 'setting', 'because'].flatMap((confirmed) =>
    acts.map(([what, act]) => [confirmed, what, act] as const),
  ),
)(
  '[X4.2] [X4] I7: a call that its agent calls confirmed by %j does not %s anything',
  async (confirmed, _, act) => {
    const { all, files, terminals } = await desk()
    const run = await turn(all, 't1', toolCallStarted(), ready({ toolInput: 'ls', confirmed }))
    expect(callOf(chatOf(all))).toMatchObject({ status: 'running', confirmed: 'not-needed' })
    await expect(act(run)).rejects.toThrow('nobody has approved this tool call')
    expect([terminals.shells, files.asked]).toEqual([[], []])
  },
)

test('[X1] a call that its agent marks as confirmed without a reason waits for approval, with options', async () => {
  const { all } = await desk()
  await turn(all, 't1', toolCallStarted(), ready({ confirmed: '' }))
  expect(callOf(chatOf(all))).toMatchObject({ status: 'pending-confirmation', options: [{}, {}, {}, {}, {}] })
})
