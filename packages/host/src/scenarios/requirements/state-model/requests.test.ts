import { expect, test } from 'vitest'
import { call, running, toolCallStarted } from '../../../../test/tool-call-actions.ts'
import { delta, part, says } from '../../../../test/two-client-session.ts'
import type { Value } from '../../../../test/versions/older-client.ts'
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
import type { AgentAction } from '../../../ports/agent.ts'

const version = '0.1.0'
const questions = [
  { kind: 'text', id: 'name', message: 'Who?', required: true },
  { kind: 'boolean', id: 'sure', message: 'Sure?' },
  { kind: 'single-select', id: 'size', message: 'Size?', options: [{ id: 's', label: 'Small' }] },
]
const request = { id: 'r1', message: 'Some questions', url: 'https://x.example/form', questions }
const asks = { type: 'chat/inputRequested', request } as AgentAction
const answers = (questionId: string, value: Value, state = 'draft') => ({
  type: 'session/inputAnswerChanged',
  requestId: 'r1',
  questionId,
  answer: { state, value },
})

test('[R000-125 R000-126 R000-128 R001-30] a session asks by an entry in its state; drafts are seen by all clients, answers are checked, and the entry goes when it is answered', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const run = await turnOf(all, 't1', asks)
  await caughtUp(ben)
  expect(ben.state(session)['inputRequests']).toEqual([request])
  // A form without a required answer is no answer.
  const done = { type: 'session/inputCompleted', requestId: 'r1', response: 'accept' }
  await isRefused(ben, session, {
    ...done,
    answers: { sure: { state: 'submitted', value: { kind: 'boolean', value: true } } },
  })
  const draft = { kind: 'text', value: 'An' }
  const echo = await does(ann, session, answers('name', draft))
  expect(echo.action).toEqual({ ...answers('name', draft), session })
  await caughtUp(ben)
  expect(ben.state(session)['inputRequests']).toMatchObject([
    { ...request, answers: { name: { state: 'draft', value: draft } } },
  ])
  await expectInStep(all)
  await isRefused(ben, session, answers('sure', { kind: 'text', value: 'perhaps' }))
  await isRefused(ben, session, answers('none', draft))
  const name = { state: 'submitted', value: { kind: 'text', value: 'Ann' } }
  await does(ben, session, { ...done, answers: { name } })
  await caughtUp(ann)
  expect(ann.state(session)).not.toHaveProperty('inputRequests')
  expect(envelopesOf(ann, 'session/inputCompleted')[0]?.action).toMatchObject({
    response: 'accept',
    answers: { name },
  })
  await expectInStep(all)
  await ends(all, run)
})

test('[R000-126 R000-128] a request may have a URL only, and is declined by any client', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const open = { id: 'r2', message: 'Open the page', url: 'https://x.example' }
  const run = await turnOf(all, 't1', { type: 'chat/inputRequested', request: open } as AgentAction)
  await caughtUp(ann)
  expect(ann.state(session)['inputRequests']).toEqual([open])
  await does(ben, session, { type: 'session/inputCompleted', requestId: 'r2', response: 'decline' })
  await isRefused(ann, session, { type: 'session/inputCompleted', requestId: 'r2', response: 'accept' })
  await expectInStep(all)
  await ends(all, run)
})

test('[R001-100 R001-101 R001-102] a result refers to a subagent by the URI of a session, in which a client sees its work', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const run = await turnOf(all, 't1', toolCallStarted(), running)
  const worker = run.chat.spawn({ ...call, title: 'Look around', text: 'look' })
  const working = await all.agent.given(1)
  const about = { title: 'Look around', agentName: 'Scout', description: 'Looks around' }
  const content = [{ type: 'subagent', resource: worker.chat, ...about }]
  await says(all, run, { type: 'chat/toolCallContentChanged', ...call, content } as AgentAction)
  await caughtUp(ben)
  const shown = () => {
    const [first] = partsOf(ben, session) as readonly {
      readonly toolCall: { readonly content: readonly Value[] }
    }[]
    return first?.toolCall.content[0] ?? {}
  }
  expect(shown()).toMatchObject({ type: 'subagent', ...about })
  const uri = String(shown()['resource'])
  expect(uri).toMatch(/^mock:/)
  await ben.subscribe(uri)
  expect(ben.state(uri)).toMatchObject({
    summary: { resource: uri },
    activeTurn: { userMessage: { text: 'look' } },
  })
  await says(all, working, part('w'), delta('w', 'Found it'), toolCallStarted())
  await ben.until(() =>
    envelopesOf(ben, 'session/toolCallStart').some(({ action }) => action['session'] === uri),
  )
  expect((ben.state(uri)['activeTurn'] as Value)['responseParts']).toMatchObject([
    { kind: 'markdown', content: 'Found it' },
    { kind: 'toolCall' },
  ])
  expect(ann.envelopes.filter(({ action }) => action['session'] === uri)).toEqual([])
  working.end()
  await worker.done
  const result = { success: true, pastTenseMessage: 'Looked', content }
  await says(all, run, { type: 'chat/toolCallComplete', ...call, result } as AgentAction)
  await ends(all, run)
  expect(shown()).toMatchObject({ type: 'subagent', resource: uri, ...about })
})
