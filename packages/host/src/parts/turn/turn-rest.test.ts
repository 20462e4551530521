import type { Turn } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { untilIdle } from '../../../test/held-flushes.ts'
import { chat, chatOf, message, oneClientSession, started } from '../../../test/one-client-session.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'
import { measure, stateLength } from '../../channels/state-length.ts'
import type { AgentAction } from '../../ports/agent.ts'
import { DiskFull } from '../../ports/log.ts'

// Text of an agent that has no room in the state: when it is shown, in which order, and what the next turn finds.

const limits = { turnLength: 40_000, stateLength: 160_000, inlineLength: 2000 }
const part = (id: string, kind: 'markdown' | 'reasoning' = 'markdown', content = ''): AgentAction => ({
  type: 'chat/responsePart',
  part: { kind, id, content },
})
const delta = (content: string, partId = 'p'): AgentAction => ({ type: 'chat/delta', partId, content })
const note = (length: number): AgentAction => ({
  type: 'chat/responsePart',
  part: { kind: 'systemNotification', content: 'n'.repeat(length) },
})

async function setUp() {
  const agent = new ScriptedAgent({ resumes: true })
  const { all, ann } = await oneClientSession(agent, { limits })
  ann.dispatch(chat, started('t'))
  const run = await agent.given()
  const channel = () => {
    const found = all.core().log.channel(chat, 'chat')
    if (!found) throw new Error('no chat')
    return found
  }
  const turns = async (count = 1): Promise<readonly Turn[]> => {
    await ann.until(() => chatOf(ann).turns.length === count)
    return chatOf(ann).turns
  }
  return { agent, all, ann, run, channel, turns }
}

/** The texts of a turn, each with the kind of its part. */
async function textsOf(
  client: Client,
  { responseParts }: Pick<Turn, 'responseParts'>,
): Promise<readonly string[]> {
  const texts = responseParts.map(async (each) => {
    if (each.kind === 'markdown' || each.kind === 'reasoning') return `${each.kind} ${each.content}`
    if (each.kind !== 'contentRef') return each.kind
    return `${each.kind} ${(await client.ask('resourceRead', { uri: each.uri })).data}`
  })
  return Promise.all(texts)
}

test.each([50, 1000, 3000])(
  '[Q10] the text of a turn after a long one is in the state (deltas of %i)',
  async (size) => {
    const { agent, ann, run, turns } = await setUp()
    run.say(part('p'))
    for (let n = 0; n < 60_000 / size; n++) run.say(delta('x'.repeat(size)))
    run.end()
    await turns()
    ann.dispatch(chat, started('t2'))
    const next = await agent.given(1)
    next.say(part('q'), delta('hello', 'q'))
    next.end()
    const [, second] = await turns(2)
    expect(second?.responseParts).toEqual([{ kind: 'markdown', id: 'q', content: 'hello' }])
  },
)

test('[Q10] after a turn that failed as full, a long message is accepted and a new turn works', async () => {
  const { agent, ann, run, turns } = await setUp()
  for (let n = 0; n < 100; n++) run.say(note(3000))
  expect(await turns()).toMatchObject([{ state: 'error' }])
  const long = await ann.echo(ann.dispatch(chat, started('t2', 'm'.repeat(20_000))))
  expect(long.rejectionReason).toBeUndefined()
  const next = await agent.given(1)
  next.say(part('q'), ...Array.from({ length: 10 }, () => note(500)))
  next.end()
  expect((await turns(2))[1]).toMatchObject({ state: 'complete' })
})

test('[Q10] [Q10.6] text without room is shown after a second, and its agent is not called silent', async () => {
  const { all, ann, run } = await setUp()
  run.say(part('p'), delta('x'.repeat(50_000)))
  await untilIdle()
  for (let n = 0; n < 20; n++) {
    run.say(delta('more text '))
    await untilIdle()
    all.world.advance(5000)
    await untilIdle()
  }
  expect(chatOf(ann).activity).toBeUndefined()
  const turn = chatOf(ann).activeTurn
  if (!turn) throw new Error('the turn has ended')
  expect((await textsOf(ann, turn)).join()).toContain('more text')
})

test('[Q10] [Q10.1] reasoning and answer are different references, and those to reasoning are marked', async () => {
  const { ann, run, turns } = await setUp()
  const thought = 'a thought '.repeat(4000)
  const answer = 'an answer '.repeat(4000)
  run.say(note(39_000), part('r', 'reasoning', thought), part('p', 'markdown', answer))
  run.end()
  const [turn] = await turns()
  if (!turn) throw new Error('no turn')
  const stored = turn.responseParts.filter(({ kind }) => kind === 'contentRef')
  const texts = (await textsOf(ann, turn)).filter((text) => text.startsWith('contentRef'))
  expect(texts.map((text) => [text.includes('thought'), text.includes('answer')])).toEqual([
    [true, false],
    [false, true],
  ])
  expect(stored.map((each) => '_meta' in each)).toEqual([true, false])
})

test('[Q10] [Q10.1] a part whose text went on in references does not go on in the state when there is room again', async () => {
  const { ann, run, turns } = await setUp()
  const queued = { kind: 'queued', id: 'm', message: message('m'.repeat(39_000)) }
  await ann.echo(ann.dispatch(chat, { type: 'chat/pendingMessageSet', ...queued }))
  run.say(part('p'), delta('1'.repeat(5000)))
  await untilIdle()
  await ann.echo(ann.dispatch(chat, { type: 'chat/pendingMessageRemoved', kind: 'queued', id: 'm' }))
  run.say(note(11_000))
  await untilIdle()
  run.say(delta('2'.repeat(1000)))
  run.end()
  const [turn] = await turns()
  const text = (await textsOf(ann, turn ?? { responseParts: [] })).join('').replaceAll(/[^12]/g, '')
  expect(text).toBe('1'.repeat(5000) + '2'.repeat(1000))
})

test('[Q10] characters that JSON escapes count with their length in JSON', async () => {
  const { run, channel, turns } = await setUp()
  run.say(part('p'), delta('\u0001'.repeat(39_000)), part('q', 'markdown', '\u0001'.repeat(38_000)))
  await untilIdle()
  expect(measure(channel())).toBeLessThan(limits.turnLength + 2000)
  run.end()
  expect(await turns()).toMatchObject([{ state: 'complete' }])
})

test('[Q10] many contents of one output count together', async () => {
  const { run, turns } = await setUp()
  const content = Array.from({ length: 100 }, () => ({ type: 'text' as const, text: 'x'.repeat(1900) }))
  run.say(
    { type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'read', displayName: 'Read' },
    { type: 'chat/toolCallReady', toolCallId: 'c', invocationMessage: 'Reads', confirmed: 'not-needed' },
    {
      type: 'chat/toolCallComplete',
      toolCallId: 'c',
      result: { success: true, pastTenseMessage: 'Read', content },
    },
  )
  run.end()
  expect(await turns()).toMatchObject([{ state: 'complete' }])
})

test('[Q10] a resumed turn counts with its whole length', async () => {
  const { all, agent, run } = await setUp()
  run.say(...Array.from({ length: 12 }, () => note(10_000)))
  await untilIdle()
  await all.restart('close')
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat })
  await ben.echo(ben.dispatch(chat, { type: 'chat/turnResume', turnId: 't' }))
  await agent.given(1)
  const channel = all.core().log.channel(chat, 'chat')
  if (!channel) throw new Error('no chat')
  expect(stateLength(all.core(), channel)).toBeGreaterThanOrEqual(measure(channel))
})

test('[Q10] [Q10.6] on a full disk, text without room waits for space', async () => {
  const { all, ann, run, turns } = await setUp()
  const { blobs } = all.store()
  const put = blobs.put.bind(blobs)
  let failures = 2
  blobs.put = (session, bytes) =>
    failures-- > 0 ? Promise.reject(new DiskFull('no space')) : put(session, bytes)
  const text = 'x'.repeat(100_000)
  run.say(part('p'), delta(text), note(10))
  run.end()
  for (let n = 0; n < 4; n++) {
    await untilIdle()
    all.world.advance(1000)
  }
  const [turn] = await turns()
  const said = (await textsOf(ann, turn ?? { responseParts: [] })).join('').replaceAll(/[^x]/g, '')
  expect(said).toBe(text)
})

test('[Q10] a preview without room keeps its message', async () => {
  const { ann, run } = await setUp()
  run.say(
    note(41_000),
    { type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'w', displayName: 'W' },
    { type: 'chat/toolCallDelta', toolCallId: 'c', content: 'abc', invocationMessage: 'Writes a file' },
  )
  await untilIdle()
  expect(JSON.stringify(chatOf(ann).activeTurn)).toContain('Writes a file')
})
