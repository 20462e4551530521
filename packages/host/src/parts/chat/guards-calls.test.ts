import { describe, expect, test } from 'vitest'
import {
  answer,
  asks,
  toolCallStarted,
  complete,
  completed,
  confirmed,
  content,
  registersTools,
  providedBy,
  mcp,
  ready,
  result,
  resultConfirmed,
  running,
  signIn,
  text,
  unseen,
} from '../../../test/tool-call-actions.ts'
import { session } from '../../../test/held-flushes.ts'
import {
  accepted,
  chat,
  refused,
  twoClientSession,
  becomeActive,
  turn,
} from '../../../test/two-client-session.ts'
import type { AnyAction } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'

const noCall = 'this turn has no such tool call'
const unconfirmed = 'this tool call is not waiting for confirmation'
const notProvider = 'only the client that provides a tool can report its progress and result'
const notRunning = 'this tool call is not running'
const noQuestion = 'no such input request is open'
const noAnswer = 'that is not a valid answer to this question'
const unanswered = 'a required question is not answered'
const answered = (value: object, state = 'submitted') => ({ answers: { name: { state, value } } })

describe('[H8] [H8.1] [H8.2] guards of tool calls and input requests', () => {
  type Row = readonly [what: string, output: readonly AgentAction[], action: AnyAction, reason: string]
  const rows: readonly Row[] = [
    ['a call that is not there, allowed', [], confirmed, noCall],
    [
      'a call of another turn, allowed',
      [toolCallStarted(), ready()],
      { ...confirmed, turnId: 't2' },
      'no such turn is in progress',
    ],
    ['a call that streams, allowed', [toolCallStarted()], confirmed, unconfirmed],
    ['a call that runs, allowed', [toolCallStarted(), running], confirmed, unconfirmed],
    ['a result of no call, allowed', [], resultConfirmed, noCall],
    [
      'a result of a call that runs, allowed',
      [toolCallStarted(), running],
      resultConfirmed,
      'the result of this tool call is not waiting for confirmation',
    ],
    ['a call that is not there, done', [], complete, noCall],
    ['a call of the host, done', [toolCallStarted(), running], complete, notProvider],
    ['a call of an MCP server, done', [toolCallStarted(mcp), running], complete, notProvider],
    ['a call of another client, done', [toolCallStarted(providedBy('ben')), running], complete, notProvider],
    [
      'a call that is not allowed yet, done',
      [toolCallStarted(providedBy('ann')), ready()],
      complete,
      notRunning,
    ],
    [
      'a call that waits for a sign-in, done',
      [toolCallStarted(mcp), running, signIn],
      complete,
      'this tool call is waiting for authentication',
    ],
    [
      'content of a call of another client',
      [toolCallStarted(providedBy('ben')), running],
      content,
      notProvider,
    ],
    ['content of a call that streams', [toolCallStarted(providedBy('ann'))], content, notRunning],
    ['content of a missing call', [], content, noCall],
    ['an answer to another request', [asks], answer('r2', 'name', text), noQuestion],
    ['an answer to an unknown question', [asks], answer('r1', 'age', text), 'there is no such question'],
    [
      'a boolean for a text question',
      [asks],
      answer('r1', 'name', { kind: 'boolean', value: true }),
      noAnswer,
    ],
    ['text for a boolean question', [asks], answer('r1', 'sure', text), noAnswer],
    ['all answers to another request', [asks], completed('r2'), noQuestion],
    ['all answers but a required one', [asks], completed('r1'), unanswered],
    ['a draft for a required answer', [asks], completed('r1', answered(text, 'draft')), unanswered],
    ['a wrong answer among all', [asks], completed('r1', answered({ kind: 'number', value: 1 })), noAnswer],
  ]
  test.each(rows)('%s: refused', async (_, agentSays, action, reason) => {
    const all = await twoClientSession()
    for (const client of [all.ann, all.ben]) await becomeActive(client)
    await turn(all, 't1', ...agentSays)
    expect(await refused(all, chat, action)).toBe(reason)
  })

  const yes = answer('r1', 'sure', { kind: 'boolean', value: false })
  const progress = { ...content, content: [{ type: 'text', text: 'x' }] }
  const takenBack = { type: 'chat/inputAnswerChanged', requestId: 'r1', questionId: 'name' }
  const good: readonly (readonly [
    what: string,
    output: readonly AgentAction[],
    actions: readonly AnyAction[],
  ])[] = [
    ['a call approved', [toolCallStarted(), ready()], [confirmed]],
    ['a call denied', [toolCallStarted(), ready()], [{ ...confirmed, approved: false, reason: 'denied' }]],
    ['a result confirmed', [toolCallStarted(), running, unseen], [resultConfirmed]],
    [
      'progress and result of its own tool',
      [toolCallStarted(providedBy('ann')), running],
      [progress, complete],
    ],
    ['a sign-in given up', [toolCallStarted(mcp), running, signIn], [{ ...complete, ...result(false) }]],
    ['answers one by one', [asks], [answer('r1', 'name', text), yes, completed('r1')]],
    ['answers all at once', [asks], [completed('r1', answered(text))]],
    ['an answer removed', [asks], [answer('r1', 'name', text), takenBack]],
    ['no answers at all', [asks], [completed('r1', { response: 'cancel' })]],
  ]
  test.each(good)('%s: taken', async (_, agentSays, actions) => {
    const all = await twoClientSession()
    await accepted(all.ann, session, registersTools('ann'))
    await turn(all, 't1', ...agentSays)
    for (const action of actions) await accepted(all.ann, chat, action)
  })
})

describe('[H8] [H8.2] an answer has the kind of its question', () => {
  const options = [{ id: 'a', label: 'A' }]
  const rows: readonly (readonly [question: object, good: object, bad: object])[] = [
    [{ kind: 'number' }, { kind: 'number', value: 0.5 }, text],
    [{ kind: 'integer' }, { kind: 'number', value: 2 }, { kind: 'number', value: 0.5 }],
    [
      { kind: 'single-select', options },
      { kind: 'selected', value: 'a' },
      { kind: 'selected-many', value: ['a'] },
    ],
    [
      { kind: 'multi-select', options },
      { kind: 'selected-many', value: ['a'] },
      { kind: 'selected', value: 'a' },
    ],
  ]
  test.each(rows)('%j', async (question, good, bad) => {
    const all = await twoClientSession()
    const questions = [{ id: 'q', message: '?', ...question }]
    await turn(all, 't1', {
      type: 'chat/inputRequested',
      request: { id: 'r1', questions },
    } as unknown as AgentAction)
    expect(await refused(all, chat, answer('r1', 'q', bad))).toBe(noAnswer)
    await accepted(all.ann, chat, answer('r1', 'q', good))
  })

  test('a question of an unknown kind may be answered in any way', async () => {
    const all = await twoClientSession()
    const questions = [{ id: 'q', message: '?', kind: 'colour' }]
    await turn(all, 't1', {
      type: 'chat/inputRequested',
      request: { id: 'r1', questions },
    } as unknown as AgentAction)
    await accepted(all.ann, chat, answer('r1', 'q', { kind: 'colour', value: 'red' }))
  })
})
