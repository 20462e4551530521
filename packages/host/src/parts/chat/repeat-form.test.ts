import { guide } from '@atrium/adapters/guide'
import type { ChatState, InputRequestPart } from '@atrium/protocol/chat/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'

const session = 'ahp-session:/one'
const chat = defaultChatUri(session)
const later = (ms: number, task: () => void) => {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}

/** Ann has a window of VS Code, Ben another client. The guide shows its form to both. */
async function form() {
  const all = await testHost({ agents: [guide(later)] })
  const ann = all.link()
  ann.clientId = 'ann'
  const clientInfo = { name: 'vscode-editor-window', version: '1' }
  await ann.ask('initialize', { protocolVersions: ['1.0.0'], clientId: 'ann', clientInfo })
  const ben = await all.join('ben')
  await ben.ask('createSession', { channel: session })
  await ben.ask('subscribe', { channel: chat })
  await ann.ask('subscribe', { channel: chat })
  const started = { type: 'chat/turnStarted', turnId: 't1', startedAt: '2026-01-01T00:00:00Z' }
  ben.dispatch(chat, { ...started, message: { text: 'ask', origin: { kind: 'user' } } })
  await ben.until(() => forms(ben).length === 1)
  return { all, ann, ben }
}

const state = (client: Client) => client.state(chat) as unknown as ChatState
const forms = (client: Client) =>
  (state(client).activeTurn ?? state(client).turns[0])?.responseParts.filter(
    (part): part is InputRequestPart => part.kind === 'inputRequest',
  ) ?? []
const typed = (value: string) => ({ state: 'submitted', value: { kind: 'text', value } })
const completed = (requestId: string, answers: object) => ({
  type: 'chat/inputCompleted',
  requestId,
  response: 'accept',
  answers,
})

test('[X6.3] VS Code gets a form again after a refused answer, with what was right; the agent waits for it', async () => {
  const { ann, ben } = await form()
  const first = forms(ben)[0]?.request.id ?? ''
  const wrong = completed(first, { name: typed('Lamp'), price: typed('12.5'), size: typed('Huge') })
  const refused = await ann.echo(ann.dispatch(chat, wrong))
  expect(refused.rejectionReason).toBe('that is not a valid answer to this question')
  await ben.until(() => forms(ben).length === 2)
  expect(forms(ben)).toMatchObject([
    { request: { id: first }, response: 'cancel' },
    {
      request: {
        message: expect.stringMatching(
          /^Please answer again: that is not a valid answer to this question\.\n/,
        ),
        questions: expect.arrayContaining([expect.objectContaining({ id: 'name', defaultValue: 'Lamp' })]),
        answers: {
          name: { state: 'draft', value: { value: 'Lamp' } },
          price: { state: 'draft', value: { kind: 'number', value: 12.5 } },
        },
      },
    },
  ])
  const [, again] = forms(ben)
  expect(again).not.toHaveProperty('request.answers.size')
  expect(again?.request.id).not.toBe(first)
  // A second mistake gets a third form, and the answer to it ends the turn.
  await ann.echo(ann.dispatch(chat, completed(again?.request.id ?? '', { size: typed('Vast') })))
  await ben.until(() => forms(ben).length === 3)
  const last = forms(ben)[2]?.request.id ?? ''
  const right = completed(last, { name: typed('Lamp'), size: typed('large') })
  expect((await ann.echo(ann.dispatch(chat, right))).rejectionReason).toBeUndefined()
  await ben.until(() => state(ben).turns.length === 1)
  expect(JSON.stringify(state(ben).turns[0])).toMatch(/What shall it be called\? Lamp.*Which size\? large/)
})

test('[X6.3] a client that keeps the form open gets no second one', async () => {
  const { ben } = await form()
  const first = forms(ben)[0]?.request.id ?? ''
  const echo = await ben.echo(ben.dispatch(chat, completed(first, { size: typed('Huge') })))
  expect(echo.rejectionReason).toBeDefined()
  expect(forms(ben)).toHaveLength(1)
  expect(forms(ben)[0]).not.toHaveProperty('response')
})

test('[X6.3] a repeated form survives a restart, and its answer reaches the resumed turn', async () => {
  const { all, ann, ben } = await form()
  await ann.echo(ann.dispatch(chat, completed(forms(ben)[0]?.request.id ?? '', { size: typed('Huge') })))
  await ben.until(() => forms(ben).length === 2)
  await all.restart('crash')
  const back = await all.join('eve', { subscribe: [chat] })
  expect(forms(back).map(({ response }) => response)).toEqual(['cancel', undefined])
  const open = forms(back)[1]?.request.id ?? ''
  await back.echo(back.dispatch(chat, completed(open, { name: typed('Lamp') })))
  await back.until(() => state(back).turns.length === 1)
  expect(JSON.stringify(state(back).turns[0])).toMatch(/What shall it be called\? Lamp/)
})
