import type { Turn } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { agentContract } from '../../../host/src/ports/contracts/agent.contract.ts'
import { TurnFailed } from '@atrium/host/ports/agent'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import type { HostlessChatOptions } from '../../../host/test/hostless-chat.ts'
import { guide } from './guide.ts'
import { verbUsage } from './words.ts'

/** A timer that fires as soon as the event loop is idle, whatever the delay. */
const later = (_: number, task: () => void) => {
  const immediate = setImmediate(task)
  return () => clearImmediate(immediate)
}
const stage = (options?: HostlessChatOptions) => new HostlessChat(guide(later), options)

agentContract('guide', () => guide(later), {
  prompts: [
    'say Hello, 👩‍👩‍👧 wörld!',
    'think about doors',
    'hello there',
    'long 40',
    'long many',
    'slow 5',
    'plan',
    'spawn say hello',
    'spawn fail',
    'spawn spawn say hello',
    '/say hello',
    'login',
    'review 20',
    'call nothing',
    'steps\nsay one\nspawn say two\nsay three',
  ],
  failing: 'crash',
  calling: (tool, input) => `call ${tool} ${input}`,
  deterministic: true,
})

test('[N5.2] [N5] an unknown message is answered with the help and a quote of the message', async () => {
  const text = textOf(await stage().turn('Where is\nthe `door`?'))
  expect(text).toContain("You asked: `Where is the 'door'?`")
  for (const [use] of Object.values(verbUsage)) expect(text).toContain(`\`${use}\``)
  expect(textOf(await stage().turn('x'.repeat(1_000_000))).length).toBeLessThan(2000)
})

test('[N5.1] [N5.3] [N5] say: a part starts empty and grows word by word', async () => {
  const run = stage().begin('SAY  one two\nthree')
  expect(textOf(await run.end())).toBe('one two\nthree')
  expect(run.said).toEqual([
    { type: 'chat/responsePart', part: { kind: 'markdown', id: 'turn-1-1', content: '' } },
    ...['one ', 'two\n', 'three'].map((content) => ({ type: 'chat/delta', partId: 'turn-1-1', content })),
    { type: 'chat/usage', usage: { inputTokens: 4, outputTokens: 3, model: 'guide-plain' } },
  ])
})

test('[N5.7] [N5] steps: each line is done in the same turn, or none of them', async () => {
  const turn = await stage().turn('steps\n\n say one\nTHINK two\nsay three')
  expect(turn.responseParts.map((part) => [part.kind, 'content' in part && part.content])).toEqual([
    ['markdown', 'one'],
    ['reasoning', expect.stringContaining('two')],
    ['markdown', expect.stringContaining('thoughts')],
    ['markdown', 'three'],
  ])
  for (const wrong of [
    'steps',
    'steps\nsay one\nlong many',
    'steps\nsay one\nwhat',
    'steps\ncall x',
    'steps\nsteps',
  ])
    expect(textOf(await stage().turn(wrong))).toContain('Use it like this: `steps`')
})

test('[J4.1] [J4] every verb is a command, and does the same after a slash', async () => {
  const { commands } = guide(later)
  const offered = (await commands?.(stage().session)) ?? []
  expect(offered.map(({ name }) => name)).toEqual(Object.keys(verbUsage))
  for (const text of ['say one two', 'PLAN', 'long 3', 'say', 'long many'])
    expect(textOf(await stage().turn(`/${text}`))).toBe(textOf(await stage().turn(text)))
  for (const text of ['//say hello', '/ say hello', '/constructor'])
    expect(textOf(await stage().turn(text))).toContain('You asked: `/')
})

test('[N5] say: a long word is not split within a character', async () => {
  const run = stage().begin(`say x${'😀'.repeat(1000)}`)
  await run.end()
  const contents = run.said.map((action) => (action.type === 'chat/delta' ? action.content : ''))
  expect(contents.filter((content) => content !== '').length).toBeGreaterThan(4)
  expect(contents.filter((content) => /\p{Surrogate}/u.test(content))).toEqual([])
})

test('[N5] think: reasoning, then an answer', async () => {
  const { responseParts } = await stage().turn('think of doors')
  expect(responseParts).toMatchObject([
    { kind: 'reasoning', content: expect.stringContaining('of doors') },
    { kind: 'markdown', content: expect.stringContaining('thought') },
  ])
})

test.each([
  ['long 1', 1],
  ['long 3000', 3000],
  ['long 100000', 100_000],
  ['slow', 10],
  ['slow 3', 3],
])('[N5] %s: each word is one piece', async (text, count) => {
  const run = stage().begin(text)
  expect(textOf(await run.end()).split(' ')).toHaveLength(count)
  expect(run.said.filter(({ type }) => type === 'chat/delta')).toHaveLength(count)
})

test.each([
  'long',
  'long 0',
  'long -1',
  'long 100001',
  'long 1e3',
  'long 5x',
  'slow 3601',
  'say',
  'think ',
  'spawn',
  'review',
  'review 1001',
])('[N5.2] [N5] %j is answered with the usage of its verb', async (text) => {
  const [verb = ''] = text.split(' ')
  expect(textOf(await stage().turn(text))).toContain(`Use it like this: \`${verb} `)
})

test('[N5] slow: one word per second; cancelling ends the wait', async () => {
  const timers = new Set<{ readonly ms: number; readonly task: () => void }>()
  const agent = guide((ms, task) => {
    const timer = { ms, task }
    timers.add(timer)
    return () => void timers.delete(timer)
  })
  const run = new HostlessChat(agent).begin('slow')
  await run.step()
  for (let i = 0; i < 3; i++) {
    const next = run.step()
    await until(() => timers.size > 0)
    const [timer] = timers
    expect(timer?.ms).toBe(1000)
    timer?.task()
    await next
  }
  const pending = run.step()
  await until(() => timers.size > 0)
  run.abort()
  expect(await pending).toBe(false)
  expect(timers.size).toBe(0)
})

test('[N5.3] [N5] long: pauses after every 256 words', async () => {
  let pauses = 0
  const agent = guide((ms, task) => (pauses++, later(ms, task)))
  await new HostlessChat(agent).turn('long 3000')
  expect(pauses).toBe(11)
})

test('[N5] plan: a notification and an activity for each step, cleared at the end', async () => {
  const run = stage().begin('plan')
  const { responseParts } = await run.end()
  expect(responseParts.map(({ kind }) => kind)).toEqual(['systemNotification', ...Array(5).fill('markdown')])
  expect(responseParts.at(-1)).toMatchObject({ id: 'turn-1-6' })
  const activities = run.said.filter(({ type }) => type === 'chat/activityChanged')
  expect(activities).toHaveLength(5)
  expect(activities.at(-1)).toEqual({ type: 'chat/activityChanged' })
})

test('[N5] spawn: a call that links to the chat of its worker', async () => {
  const all = stage()
  const { responseParts } = await all.turn('spawn say hello')
  const content = [{ type: 'subagent', resource: 'ahp-chat:/worker-1', title: 'say hello' }]
  const done = { markdown: 'A worker did `say hello`' }
  expect(responseParts).toMatchObject([
    { toolCall: { status: 'completed', success: true, pastTenseMessage: done, content } },
    { kind: 'markdown' },
  ])
  expect(all.workers.map((worker) => worker.state.turns.map(textOf))).toEqual([['hello']])
})

test('[N5.4] [N5] spawn: the call of a failed worker fails, and a worker cannot spawn', async () => {
  const all = stage()
  const [call] = (await all.turn('spawn crash')).responseParts
  expect(call).toMatchObject({ toolCall: { status: 'completed', success: false } })
  await all.turn('spawn spawn say hello')
  expect(all.workers.map((worker) => worker.workers.length)).toEqual([0, 0])
})

test('[J11] login: a call that waits for a login and does not reveal the token', async () => {
  const run = stage().begin('login')
  const { responseParts } = await run.end()
  const resource = { resource: 'https://guide.atrium.example', resource_name: 'Atrium Guide' }
  expect(run.said.slice(0, 5).map(({ type }) => type)).toEqual([
    'chat/toolCallStart',
    'chat/toolCallReady',
    'chat/toolCallAuthRequired',
    'chat/toolCallComplete',
    'chat/responsePart',
  ])
  expect(run.said[0]).toMatchObject({ contributor: { kind: 'mcp', customizationId: 'guide' } })
  expect(run.said[1]).toMatchObject({ confirmed: 'not-needed' })
  expect(run.said[2]).toMatchObject({ auth: { reason: 'required', resource } })
  expect(responseParts[0]).toMatchObject({ toolCall: { pastTenseMessage: 'Signed in to Atrium Guide' } })
  expect(JSON.stringify(responseParts)).not.toContain('"token"')
})

test('[N6.2] [N5] fail: fails once, with the given message', async () => {
  const all = stage()
  const run = all.begin('fail because')
  const failed = await run.end()
  expect(run.failure).toMatchObject({
    name: 'TurnFailed',
    errorType: 'guide',
    resumable: true,
    message: '`because`',
  })
  expect(failed.responseParts).toMatchObject([{ kind: 'markdown' }, { kind: 'error' }])
  const resumed = await all.resume().end()
  expect(resumed.responseParts).toMatchObject([{ id: 'turn-1-1' }, { kind: 'error' }, { id: 'turn-1-3' }])
  expect([resumed.state, textOf(resumed).slice(0, 6)]).toEqual(['complete', 'I fail'])
})

test('[N5] crash: ends in the middle of a sentence with an error that is no TurnFailed', async () => {
  const run = stage().begin('crash')
  expect(textOf(await run.end())).toMatch(/\w$/)
  expect(run.failure).toBeInstanceOf(Error)
  expect(run.failure).not.toBeInstanceOf(TurnFailed)
})

test('[N5.5] [N5] the model, its pace, the tone and the topic change the output', async () => {
  const lively = await stage().turn({ text: 'say hello', model: { id: 'guide-lively' } })
  expect(lively.responseParts.map(({ kind }) => kind)).toEqual(['reasoning', 'markdown'])
  expect(lively.usage?.model).toBe('guide-lively')
  const delays: number[] = []
  const agent = guide((ms, task) => (delays.push(ms), later(ms, task)))
  await new HostlessChat(agent).turn({
    text: 'say a b',
    model: { id: 'guide-plain', config: { pace: 'steady' } },
  })
  expect(delays).toEqual([40, 40])
  const help = async (config: Record<string, unknown>) => textOf(await stage({ config }).turn('help'))
  const usual = await help({})
  expect((await help({ 'guide.tone': 'brief' })).length).toBeLessThan(usual.length - 200)
  expect(await help({ 'guide.topic': 'log' })).toContain('**What is kept**')
  expect(await help({ 'guide.tone': 7, 'guide.topic': 'start' })).toBe(usual)
})

test('[N4.1] [N4] topics are completed from a part of their name', async () => {
  const { settings } = guide(later)
  const found = await settings?.choices?.('guide.topic', ' WORK', undefined)
  expect(found?.map(({ value }) => value)).toEqual(['workers'])
})

function textOf(turn: Turn): string {
  return turn.responseParts.map((part) => (part.kind === 'markdown' ? part.content : '')).join('')
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve))
}
