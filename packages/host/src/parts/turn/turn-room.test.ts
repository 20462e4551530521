import type { Turn } from '@atrium/protocol/chat/state'
import { limits as defaults } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { untilIdle } from '../../../test/held-flushes.ts'
import { chat, chatOf, oneClientSession, session, started } from '../../../test/one-client-session.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import type { Client, TestHost, TestHostOptions } from '../../../test/test-host.ts'
import type { AgentAction } from '../../ports/agent.ts'
import { splitAt } from './output-text.ts'

// Small limits stand for the large ones: the same code runs with less text.
const limits = { turnLength: 40_000, stateLength: 160_000, inlineLength: 2000 }
const part: AgentAction = { type: 'chat/responsePart', part: { kind: 'markdown', id: 'p', content: '' } }
const delta = (content: string): AgentAction => ({ type: 'chat/delta', partId: 'p', content })

async function setUp(options: TestHostOptions = {}) {
  const agent = new ScriptedAgent()
  const { all, ann } = await oneClientSession(agent, { limits, ...options })
  ann.dispatch(chat, started('t'))
  const run = await agent.given()
  const ended = async () => {
    await ann.until(() => chatOf(ann).turns.length > 0 || ann.peer.closed.aborted)
    const [turn] = chatOf(ann).turns
    if (!turn) throw new Error('the turn has not ended')
    return turn
  }
  return { agent, all, ann, run, ended }
}

/** Reads all text of a turn, also that which is stored outside the state. */
async function textOf(client: Client, { responseParts }: Turn): Promise<string> {
  const texts = responseParts.map(async (each) => {
    if (each.kind === 'markdown' || each.kind === 'reasoning') return each.content
    if (each.kind !== 'contentRef') return ''
    return (await client.ask('resourceRead', { uri: each.uri })).data
  })
  return (await Promise.all(texts)).join('')
}

/** Opens the chat in every way that a client can. Returns the lengths of the answers. */
async function opened({ join, link }: TestHost, returning: Client): Promise<readonly number[]> {
  const subscribed = await (await join('ben')).ask('subscribe', { channel: chat })
  const cut = await (await join('cleo')).ask('subscribe', { channel: chat, view: { turns: 1 } })
  const initialized = await link().initialize('dan', [chat])
  const back = link()
  const { clientId, lastSeen } = returning
  back.clientId = clientId
  const reconnected = await back.ask('reconnect', {
    clientId,
    lastSeenServerSeq: lastSeen,
    subscriptions: [session, chat],
  })
  return [subscribed, cut, initialized, reconnected].map((answer) => JSON.stringify(answer).length)
}

test('[Q10] [Q10.1] text that has no room in the state goes on as references, and nothing of it is lost', async () => {
  const { all, ann, run, ended } = await setUp()
  const words = Array.from({ length: 15_000 }, (_, n) => `word ${n} 🌱 `)
  run.say(part)
  for (const word of words) run.say(delta(word))
  run.end()
  const turn = await ended()
  const kinds = new Set(turn.responseParts.map(({ kind }) => kind))
  expect(kinds).toEqual(new Set(['markdown', 'contentRef']))
  expect(turn.state).toBe('complete')
  expect(await textOf(ann, turn)).toBe(words.join(''))
  for (const length of await opened(all, ann)) expect(length).toBeLessThan(2 * limits.turnLength)
})

test.each(['markdown', 'reasoning'] as const)(
  '[Q10] a %s part, and a single delta, that have no room are split',
  async (kind) => {
    const { ann, run, ended } = await setUp()
    const long = 'é'.repeat(limits.turnLength + 5)
    run.say({ type: 'chat/responsePart', part: { kind, id: 'p', content: long } }, delta(long))
    run.end()
    const turn = await ended()
    expect(turn.responseParts[0]).toMatchObject({ kind })
    expect(await textOf(ann, turn)).toBe(long + long)
    expect(JSON.stringify(turn).length).toBeLessThan(limits.turnLength + 2000)
  },
)

const call = (n: number, text: string): readonly AgentAction[] => [
  { type: 'chat/toolCallStart', toolCallId: `c${n}`, toolName: 'read', displayName: 'Read' },
  { type: 'chat/toolCallReady', toolCallId: `c${n}`, invocationMessage: 'Reads', confirmed: 'not-needed' },
  {
    type: 'chat/toolCallComplete',
    toolCallId: `c${n}`,
    result: { success: true, pastTenseMessage: 'Read', content: [{ type: 'text', text }] },
  },
]

/** The texts of all tool calls of a turn, read by reference where they are stored outside the state. */
async function outputsOf(client: Client, { responseParts }: Turn): Promise<readonly string[]> {
  const read = responseParts.map(async (each) => {
    const found =
      each.kind === 'toolCall' && each.toolCall.status === 'completed' ? each.toolCall.content : []
    const [content] = found ?? []
    if (content?.type === 'text') return content.text
    if (content?.type !== 'resource') throw new Error('no output')
    return (await client.ask('resourceRead', { uri: content.uri })).data
  })
  return Promise.all(read)
}

test('[Q10] [Q10.2] many outputs below the inline limit: the limit falls as the turn grows, and the chat can be opened', async () => {
  const { all, ann, run, ended } = await setUp()
  const texts = Array.from({ length: 100 }, (_, n) => `${n}:`.padEnd(1900, 'x'))
  run.say(...texts.flatMap((text, n) => call(n, text)))
  run.end()
  const turn = await ended()
  expect(await outputsOf(ann, turn)).toEqual(texts)
  const inline = turn.responseParts.filter(
    (each) => each.kind === 'toolCall' && JSON.stringify(each).includes('"type":"text"'),
  )
  expect(inline.length).toBeGreaterThan(2)
  expect(inline.length).toBeLessThan(40)
  for (const length of await opened(all, ann)) expect(length).toBeLessThan(limits.stateLength)
})

test('[Q10] [Q10.2] a long input of a tool is a reference, and its preview ends where there is no room', async () => {
  const { ann, run, ended } = await setUp()
  const input = JSON.stringify({ text: 'y'.repeat(limits.turnLength) })
  run.say({ type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'write', displayName: 'Write' })
  for (let at = 0; at < input.length; at += 1000)
    run.say({ type: 'chat/toolCallDelta', toolCallId: 'c', content: input.slice(at, at + 1000) })
  run.say({
    type: 'chat/toolCallReady',
    toolCallId: 'c',
    invocationMessage: 'Writes',
    confirmed: 'not-needed',
    toolInput: input,
  })
  run.end()
  const [first] = (await ended()).responseParts
  if (first?.kind !== 'toolCall' || !('toolInput' in first.toolCall)) throw new Error('no call')
  const { toolInput } = first.toolCall
  if (typeof toolInput !== 'object') throw new Error('no reference')
  expect((await ann.ask('resourceRead', { uri: toolInput.uri })).data).toBe(input)
})

test('[Q10] [Q10.3] output that cannot be stored apart ends the turn when the state is full, and the chat can be opened', async () => {
  const { all, ann, run, ended } = await setUp()
  for (let n = 0; n < 100; n++)
    run.say({ type: 'chat/responsePart', part: { kind: 'systemNotification', content: 'n'.repeat(10_000) } })
  const turn = await ended()
  expect(turn).toMatchObject({ state: 'error' })
  expect(turn.responseParts.at(-1)).toMatchObject({ kind: 'error', error: { errorType: 'full' } })
  expect(JSON.stringify(turn).length).toBeLessThanOrEqual(limits.stateLength + 1000)
  for (const length of await opened(all, ann)) expect(length).toBeLessThan(2 * limits.stateLength)
})

test.each([
  ['a text', [part, delta('z'.repeat(limits.turnLength + 9))]],
  ['a tool', call(1, 'z'.repeat(3000))],
])('[Q10] %s that a turn stored apart is kept when the turn fails', async (_, said) => {
  const { ann, run, ended } = await setUp()
  run.say(...said)
  run.fail(new Error('the agent is gone'))
  const turn = await ended()
  expect(turn.state).toBe('error')
  const text = await textOf(ann, turn)
  const outputs = await outputsOf(ann, { ...turn, responseParts: turn.responseParts.slice(0, -1) }).catch(
    () => [],
  )
  expect([text, ...outputs].join('')).toContain('z'.repeat(3000))
})

test('[Q10] [Q10.3] an output that changes many calls with one id counts as often, and the chat can be opened', async () => {
  const { all, ann, run, ended } = await setUp()
  const { stateLength } = limits
  for (let n = 0; n < 600; n++)
    run.say({ type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'read', displayName: 'Read' })
  const content = (text: string) => [{ type: 'text', text } as const]
  run.say({
    type: 'chat/toolCallReady',
    toolCallId: 'c',
    invocationMessage: 'Reads',
    confirmed: 'not-needed',
  })
  run.say({
    type: 'chat/toolCallComplete',
    toolCallId: 'c',
    result: { success: true, pastTenseMessage: 'Read', content: content('x'.repeat(1000)) },
  })
  run.end()
  const turn = await ended()
  expect(JSON.stringify(turn).length).toBeLessThan(stateLength)
  for (const length of await opened(all, ann)) expect(length).toBeLessThan(2 * stateLength)
})

test('[Q10] [Q10.3] a worker whose task has no room in a state is refused, and no chat is left behind', async () => {
  const { all, ann, run } = await setUp()
  run.say({ type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'spawn', displayName: 'Spawn' })
  run.say({
    type: 'chat/toolCallReady',
    toolCallId: 'c',
    invocationMessage: 'Spawns',
    confirmed: 'not-needed',
  })
  await untilIdle()
  const task = { toolCallId: 'c', title: `long ${'title '.repeat(1000)}` }
  // A quotation mark has two characters in JSON.
  expect(() => run.chat.spawn({ ...task, text: '"'.repeat(limits.stateLength / 2) })).toThrow(
    'The task of a worker may have at most 160000 characters.',
  )
  await untilIdle()
  expect(all.core().log.channel(session, 'session')?.head.chats).toHaveLength(1)
  const { chat: worker } = run.chat.spawn({ ...task, text: '"'.repeat(limits.stateLength / 4) })
  await untilIdle()
  const entry = all.core().log.channel(session, 'session')?.head.chats[1]
  expect(entry?.title).toHaveLength(80)
  const { snapshot } = await ann.ask('subscribe', { channel: worker })
  expect(JSON.stringify(snapshot).length).toBeLessThan(limits.stateLength)
})

test('[Q10] [Q10.4] a client’s long action is refused by a full chat, and a short one is not', async () => {
  const { ann, run } = await setUp()
  run.say({
    type: 'chat/responsePart',
    part: { kind: 'systemNotification', content: 'n'.repeat(limits.stateLength - 10_000) },
  })
  await untilIdle()
  const draft = (text: string) => ({
    type: 'chat/draftChanged',
    draft: { text, origin: { kind: 'user' } },
  })
  const refused = await ann.echo(ann.dispatch(chat, draft('d'.repeat(12_000))))
  expect(refused.rejectionReason).toBe('this chat is full: its state may have at most 160000 characters')
  expect((await ann.echo(ann.dispatch(chat, draft('short')))).rejectionReason).toBeUndefined()
  const cancelled = await ann.echo(
    ann.dispatch(chat, { type: 'chat/turnCancelled', turnId: 't', duration: 1 }),
  )
  expect(cancelled.rejectionReason).toBeUndefined()
})

test('[Q10] a text is never split between the two units of a character', () => {
  expect(splitAt('a🌱b', 2)).toEqual(['a', '🌱b'])
  expect(splitAt('a🌱b', 3)).toEqual(['a🌱', 'b'])
  expect(splitAt('ab', 0)).toEqual(['', 'ab'])
  expect(splitAt('ab', 9)).toEqual(['ab', ''])
})

test('[S-57 turnLength] at 4,194,304 characters: text is in the state', () => fill(-100_000, 0))
test('[S-57 turnLength] past 4,194,304: text is stored apart, and referred to', () => fill(1000, 1))

async function fill(more: number, references: number): Promise<void> {
  const { run, ended } = await setUp({ limits: {} })
  run.say(part, delta('x'.repeat(defaults.turnLength + more)))
  run.end()
  const { responseParts } = await ended()
  expect(responseParts.filter(({ kind }) => kind === 'contentRef')).toHaveLength(references)
}

test('[S-57 stateLength] at 16,777,216 characters: a part is in the state', () =>
  notify(-100_000, 'complete'))
test('[S-57 stateLength] past 16,777,216: the turn fails', () => notify(1, 'error'))

async function notify(more: number, state: string): Promise<void> {
  const { run, ended } = await setUp({ limits: {} })
  const content = 'n'.repeat(defaults.stateLength + more)
  run.say({ type: 'chat/responsePart', part: { kind: 'systemNotification', content } })
  run.end()
  expect(await ended()).toMatchObject({ state })
}
