import type { MessageAttachment } from '@atrium/protocol/chat/message'
import { expect, test } from 'vitest'
import { complete, setUp } from '../../../test/completing.ts'
import { until } from '../../../test/scripted-agent.ts'
import { chat as onlyChat, started as begun } from '../../../test/one-client-session.ts'
import {
  accepted,
  chat,
  chatOf,
  message,
  started,
  twoClientSession,
} from '../../../test/two-client-session.ts'

const range = { start: { line: 0, character: 4 }, end: { line: 0, character: 9 } }
const selection = { range: { start: { line: 7, character: 0 }, end: { line: 9, character: 3 } } }
const meta = { _meta: { from: 'completions', deep: { list: [1, null, 'x'] } } }

/** An attachment of each kind of 0.1, with every member, and with a member that no version has. */
const attachments: readonly object[] = [
  { type: 'simple', label: 'Idea', modelRepresentation: 'An idea', range, displayKind: 'document', ...meta },
  { type: 'embeddedResource', label: 'Pasted', data: 'aGk=', contentType: 'text/plain', selection, ...meta },
  { type: 'resource', label: 'main.ts', uri: 'file:///a/main.ts', displayKind: 'selection', selection },
  { type: 'resource', label: 'logo', uri: 'file:///a/logo.png', contentType: 'image/png', sizeHint: 12 },
  { type: 'simple', label: 'Odd', modelRepresentation: '', displayKind: 'hologram', 'x-own': { a: 1 } },
]

test('[J5] state model, User Messages: the agent and every client get each kind of attachment unchanged', async () => {
  const all = await twoClientSession()
  const sent = { ...message('see @main.ts'), attachments }
  await accepted(all.ann, chat, started('t1', '', { message: sent }))
  const run = await all.agent.given()
  expect(run.chat.state.activeTurn?.message).toEqual(sent)
  await all.ben.until(() => all.ben.lastSeen >= all.ann.lastSeen)
  expect(all.ben.state(chat)).toMatchObject({ activeTurn: { message: sent } })
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  await all.restart('crash')
  const late = await all.join('late', { subscribe: [chat] })
  expect(late.state(chat)).toMatchObject({ turns: [{ message: sent }] })
})

test('[J5] state model, Pending Messages: a queued message keeps its attachments, and begins a turn with them', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, chat, started('t1'))
  const sent = { ...message('and this'), attachments }
  await accepted(all.ben, chat, { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message: sent })
  expect(chatOf(all).queuedMessages).toEqual([{ id: 'q', message: sent }])
  ;(await all.agent.given(0)).end()
  const run = await all.agent.given(1)
  expect(run.chat.state.activeTurn?.message).toEqual(sent)
  const begins = all.ben.envelopes
    .map(({ action }) => action)
    .filter(({ type }) => /Removed|Started/.test(type))
  expect(begins.slice(-2)).toMatchObject([
    { type: 'chat/pendingMessageRemoved', kind: 'queued', id: 'q' },
    { type: 'chat/turnStarted', queuedMessageId: 'q', message: sent },
  ])
})

test('[J5] state model, User-Message Completions: what a completion offers comes back whole with the message', async () => {
  const { ann, agent } = await setUp(['/w/src/main.ts'])
  Object.assign(agent, { commands: async () => [{ name: 'plan', description: 'a plan' }] })
  const text = '/pl'
  const [command] = (await complete(ann, text)).items
  const [file] = (await complete(ann, 'read @main')).items
  expect(command?.attachment).toMatchObject({ _meta: { command: 'plan', description: 'a plan' } })
  // The client replaces the half-open range by the offered text.
  const typed = `${text.slice(0, command?.rangeStart)}${command?.insertText}${text.slice(command?.rangeEnd)}`
  const taken = [command, file].map((item) => item?.attachment) as MessageAttachment[]
  const sent = { text: typed, origin: { kind: 'user' }, attachments: taken }
  await ann.echo(ann.dispatch(onlyChat, { ...begun('t1'), message: sent }))
  const run = await agent.given()
  expect(run.chat.state.activeTurn?.message).toEqual({ ...sent, text: '/plan' })
})
