import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { callsIn, chat, failureIn, later, modelHouse, textOf, world, yes } from '../../test/model-house.ts'
import { callError, partsOf, scriptedVendor, streamOf } from '../../test/scripted-model.ts'
import { Stage } from '../../../host/test/stage.ts'
import { agentWith } from './model.ts'
import { goOn } from './prompt.ts'

const steer = (text: string) => ({
  type: 'chat/pendingMessageSet',
  kind: 'steering',
  id: `s-${text}`,
  message: { text, origin: { kind: 'user' } },
})
const written = (text: string) => ({ role: 'user', text })

test('[N25] what is said to steer a turn is taken up before the model is asked again, and stands in the chat', async () => {
  const { begin, ended, pending, answer, dispatch, heard, state, turn } = await modelHouse()
  const turnId = await begin('call run {"command":"a"} ; say done')
  await pending()
  await dispatch(steer('say turned'))
  await answer(0, yes)
  const done = await ended(turnId)
  expect(textOf(done)).toBe('turned')
  expect(heard().at(-1)).toEqual(written('say turned'))
  expect(state()).not.toHaveProperty('steeringMessage')
  expect(done.responseParts[1]).toMatchObject({ kind: 'systemNotification', content: 'say turned' })
  await turn('say next')
  const words = heard().map(({ text }) => text)
  expect(words.slice(-3)).toEqual(['say turned', 'turned', 'say next'])
})

test('[N25] what comes while the model speaks its last words is taken up, too, and once', async () => {
  const { begin, ended, dispatch, vendor, state } = await modelHouse()
  let open = () => {}
  const door = new Promise<void>((resolve) => (open = resolve))
  const usual = vendor.model.doStream
  let asked = () => {}
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  vendor.model.doStream = async (options) => {
    asked()
    await door
    vendor.model.doStream = usual
    return usual(options)
  }
  const turnId = await begin('say first')
  await isAsked
  await dispatch(steer('say second'))
  open()
  const turn = await ended(turnId)
  expect(textOf(turn)).toBe('firstsecond')
  expect(state().turns).toHaveLength(1)
})

test('[N26] a turn that waited for somebody when its host died is gone on with, and nothing is done twice', async () => {
  const { all, begin, pending, again, terminals, vendor } = await modelHouse()
  const turnId = await begin('say first ; call run {"command":"a"} & call run {"command":"b"} ; say done')
  await pending(0)
  await pending(1)
  await all.restart('crash')
  const ben = await again()
  await ben.answer(1, yes)
  await ben.answer(0, yes)
  const turn = await ben.ended(turnId)
  expect([turn.state, textOf(turn)]).toEqual(['complete', 'firstdone'])
  expect(terminals.shells.map(({ start }) => start.command)).toEqual(['a', 'b'])
  expect(vendor.model.doStreamCalls).toHaveLength(2)
})

test('[N26] what was being done when its host died is not done again: the model is told, and decides', async () => {
  const { all, begin, pending, answer, until, again, terminals, heard } = await modelHouse()
  terminals.start = async () => new Promise(() => {})
  const turnId = await begin('call run {"command":"a"} ; say done')
  await pending()
  await answer(0, yes)
  await until(({ activeTurn }) => callsIn(activeTurn)[0]?.status === 'running')
  await all.restart('crash')
  const ben = await again()
  const broken = await ben.ended(turnId)
  expect(failureIn(broken)).toMatchObject({ errorType: 'interrupted', resumable: true })
  await ben.dispatch({ type: 'chat/turnResume', turnId })
  await ben.pending(1)
  expect(heard().at(-1)?.text).toContain('This was interrupted')
  expect(callsIn(ben.state().activeTurn)).toMatchObject([{ status: 'cancelled' }, { toolInput: 'a' }])
})

test('[N26] text that was cut off goes on in its part, and the model is told where it was', async () => {
  const vendor = scriptedVendor()
  const stage = new Stage(agentWith([vendor], { world }))
  const run = stage.begin('say Hello, this is a longer text')
  for (let i = 0; i < 3; i++) await run.step()
  await run.cut()
  const turn = await stage.resume().end()
  expect(textOf(turn)).toBe('Hello, this is a longer text')
  expect(turn.responseParts.filter(({ kind }) => kind === 'markdown')).toHaveLength(1)
  expect(JSON.stringify(vendor.model.doStreamCalls.at(-1)?.prompt)).toContain(
    JSON.stringify(goOn).slice(1, -1),
  )
})

test('[N27] a turn that is cancelled ends the request at once, and is heard of no more', async () => {
  const { begin, ended, dispatch, until, vendor } = await modelHouse()
  const turnId = await begin('say slowly ; hang')
  await until(({ activeTurn }) => textOf(activeTurn).startsWith('slow'))
  const { abortSignal } = vendor.model.doStreamCalls[0] ?? {}
  expect(abortSignal?.aborted).toBe(false)
  await dispatch({ type: 'chat/turnCancelled', turnId, duration: 1 })
  const turn = await ended(turnId)
  expect([turn.state, abortSignal?.aborted]).toEqual(['cancelled', true])
})

test('[N28] a model with too much to do is left alone for a while, as long as it says, and then asked again', async () => {
  const vendor = scriptedVendor()
  const waited: number[] = []
  const slow = { ...world, later: (ms: number, task: () => void) => (waited.push(ms), later(ms, task)) }
  const usual = vendor.model.doStream
  const troubles = [callError(429, { 'retry-after': '7' }), callError(529), callError(503)]
  vendor.model.doStream = async (options) => {
    const trouble = troubles.shift()
    if (trouble) throw trouble
    return usual(options)
  }
  const stage = new Stage(agentWith([vendor], { world: slow }))
  const run = stage.begin('say at last')
  expect(textOf(await run.end())).toBe('at last')
  expect(waited).toEqual([7000, 3000, 9000])
  expect(run.said[0]).toMatchObject({ activity: 'Mock is busy, and is asked again in 7 s' })
  expect(stage.state).not.toHaveProperty('activity')
})

test('[N28] one that never has time fails the turn, which can be resumed', async () => {
  const { turn, vendor, resume } = await modelHouse()
  const usual = vendor.model.doStream
  let asked = 0
  vendor.model.doStream = async () => {
    asked++
    throw callError(429)
  }
  const failed = await turn('say something')
  expect(failureIn(failed)).toMatchObject({ errorType: 'overloaded', resumable: true })
  expect(asked).toBe(5)
  vendor.model.doStream = usual
  expect(textOf(await resume(failed.id))).toBe('something')
})

test.each([
  [
    'breaks off',
    () => streamOf(partsOf([{ kind: 'say', text: 'half' }, { kind: 'break' }])),
    'broke off in the middle',
  ],
  [
    'says that something is wrong',
    () =>
      streamOf([
        ...partsOf([{ kind: 'say', text: 'half' }, { kind: 'break' }]),
        { type: 'error' as const, error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]),
    'too much to do',
  ],
])(
  '[N28] a stream that %s in the midst fails the turn, and resumed it goes on from there',
  async (_, stream, words) => {
    const { turn, resume, vendor } = await modelHouse()
    const usual = vendor.model.doStream
    let signal: AbortSignal | undefined
    vendor.model.doStream = async ({ abortSignal }) => {
      signal = abortSignal
      return { stream: stream() }
    }
    const failed = await turn('say half and half')
    expect(signal?.aborted).toBe(true)
    expect([textOf(failed), failureIn(failed)]).toMatchObject([
      'half',
      { resumable: true, message: expect.stringContaining(words) },
    ])
    vendor.model.doStream = usual
    expect(textOf(await resume(failed.id))).toBe('half and half')
  },
)

test('[N29] a conversation that becomes too long is summarised by the model, in the chat; older turns stay as they are', async () => {
  const { turn, heard, state, vendor, all, again } = await modelHouse(
    {},
    { facts: { maxContextWindow: 4000 } },
  )
  const usual = vendor.model.doStream
  vendor.model.doStream = async (options) => {
    const asksForSummary = options.tools === undefined || options.tools.length === 0
    return asksForSummary ? { stream: streamOf(partsOf([{ kind: 'say', text: 'SHORT' }])) } : usual(options)
  }
  for (const text of ['a'.repeat(4000), 'tiny', 'c'.repeat(4000)]) await turn(`say ${text}`)
  const { turns } = state()
  const at = turns.findIndex(({ responseParts }) => responseParts[0]?.kind === 'systemNotification')
  expect(turns[at]?.responseParts[0]).toMatchObject({
    _meta: { 'x-atrium': { summary: 'SHORT', upTo: turns[0]?.id } },
  })
  expect([at, ...turns.map((each) => textOf(each).length)]).toEqual([2, 4000, 4, 4000])
  const told = heard().map(({ text }) => text)
  expect(told[0]).toContain('SHORT')
  expect(told.join()).not.toContain('aaaa')
  // It stands in the log, so that the next life has it, too.
  await all.restart('crash')
  const ben = await again()
  await ben.turn('say again')
  expect(heard()[0]?.text).toContain('SHORT')
  expect(heard()[1]?.text).toBe('say tiny')
  expect(
    heard()
      .map(({ text }) => text)
      .join(),
  ).not.toContain('aaaa')
  // Whoever takes the turn away that it is in has the older ones back.
  await ben.dispatch({ type: 'chat/truncated', turnId: turns[0]?.id })
  await ben.turn('say afresh')
  expect(heard()[0]?.text).toContain('aaaa')
})

test('[N29] without a summary the newest turns are sent, and a turn that is too long by itself loses old results', async () => {
  const big = 'x'.repeat(4000)
  const { turn, heard, vendor } = await modelHouse({ 'big.txt': big }, { facts: { maxContextWindow: 4000 } })
  const usual = vendor.model.doStream
  vendor.model.doStream = async (options) => {
    if (options.tools === undefined || options.tools.length === 0) throw callError(400)
    return usual(options)
  }
  const read = 'call read {"path":"big.txt"}'
  expect(textOf(await turn(`${read} ; ${read} ; ${read} ; ${read} ; say done`))).toBe('done')
  const results = heard()
    .filter(({ role }) => role === 'tool')
    .map(({ text }) => text.length)
  expect(results.slice(0, 2).every((length) => length < 100)).toBe(true)
  expect(results.at(-1)).toBeGreaterThan(1000)
  expect(textOf(await turn('say next'))).toBe('next')
  expect(heard()[0]?.text).toContain('left out')
})

test('[N29] a request that is refused as too long is made again with less', async () => {
  const { turn, vendor } = await modelHouse({}, { facts: { maxContextWindow: 100_000 } })
  for (const name of ['a', 'b']) await turn(`say ${name.repeat(30_000)}`)
  const usual = vendor.model.doStream
  let refused = 0
  vendor.model.doStream = async (options) => {
    const length = JSON.stringify(options.prompt).length
    if (length > 50_000 && ++refused) throw callError(413)
    return usual(options)
  }
  expect(textOf(await turn('say done'))).toBe('done')
  expect(refused).toBeGreaterThan(0)
})

test('[N21] the model is sent the whole chat, as the log has it, also what is in memory no more', async () => {
  const { turn, all, heard } = await modelHouse({}, { tail: 2 })
  const words = Array.from({ length: 40 }, (_, i) => `word${i}`)
  for (const word of words) await turn(`say ${word}`)
  await all.restart('close')
  // Nobody looks at the chat, so nobody but the agent needs what is older.
  const ben = await all.join('ben')
  const message = { text: 'say last', origin: { kind: 'user' } }
  ben.dispatch(chat, { type: 'chat/turnStarted', turnId: 'last', startedAt: '2026-01-01T00:00:00Z', message })
  const told = () => all.core().log.channel(chat)?.committed as ChatState | undefined
  while (told()?.turns.at(-1)?.id !== 'last') await new Promise((resolve) => setImmediate(resolve))
  expect(all.core().log.channel(chat)?.olderRows).toBeGreaterThan(0)
  expect(heard().map(({ text }) => text)).toEqual([
    ...words.flatMap((word) => [`say ${word}`, word]),
    'say last',
  ])
})

test('[N21] what is attached is read when it is needed; what cannot be is said to be missing', async () => {
  const { turn, vendor } = await modelHouse({}, { facts: { supportsVision: true } })
  const png = { type: 'embeddedResource', label: 'dot', data: 'iVBORw0KGgo=', contentType: 'image/png' }
  const note = { type: 'simple', label: 'n', modelRepresentation: 'remember \ud83d this' }
  const gone = { type: 'resource', label: 'gone', uri: 'file:///nowhere/x' }
  await turn('say seen', { attachments: [png, note, gone] })
  const content = vendor.model.doStreamCalls[0]?.prompt.at(-1)?.content
  expect(content).toMatchObject([
    { type: 'file', mediaType: 'image/png' },
    { type: 'text', text: '<attachment name="n">\nremember \ufffd this\n</attachment>' },
    { type: 'text', text: expect.stringContaining('[attached: "gone", which cannot be read') },
    { type: 'text', text: 'say seen' },
  ])
})

test('[N21] thoughts are shown, and not sent back', async () => {
  const { turn, heard } = await modelHouse()
  const done = await turn('think hmm ; say I see')
  expect(done.responseParts.map(({ kind }) => kind)).toEqual(['reasoning', 'markdown'])
  await turn('say more')
  expect(heard().map(({ text }) => text)).toEqual(['think hmm ; say I see', 'I see', 'say more'])
})

test('[N21] nothing is made of a chat before all that was said of it is told', async () => {
  const slow = (task: () => void) => void setTimeout(task, 5)
  const { turn, heard } = await modelHouse({ 'a.txt': 'one' }, { soon: slow })
  await turn('say first ; call read {"path":"a.txt"} ; say then')
  expect(heard().slice(1)).toEqual([
    { role: 'assistant', text: 'first' },
    { role: 'tool', text: 'one' },
  ])
})

test('[N25] what was taken up when its host died is taken up once', async () => {
  const vendor = scriptedVendor()
  const stage = new Stage(agentWith([vendor], { world }))
  const run = stage.begin('say first')
  const message = { text: 'say turned', origin: { kind: 'user' } } as const
  stage.fold({ type: 'chat/pendingMessageSet', kind: 'steering', id: 's', message })
  const _meta = { 'x-atrium': { steering: { id: 's', message } } }
  const part = { kind: 'systemNotification', content: 'say turned', _meta } as const
  stage.fold({ type: 'chat/responsePart', turnId: 'turn-1', part })
  const turn = await run.end()
  expect(turn.responseParts.map(({ kind }) => kind)).toEqual(['systemNotification', 'markdown'])
  expect(stage.state).not.toHaveProperty('steeringMessage')
})

test('[N26] a call that shows that it was begun is not begun again', async () => {
  const stage = new Stage(agentWith([scriptedVendor()], { world }))
  const run = stage.begin('say so')
  const call = { turnId: 'turn-1', toolCallId: 'c' }
  stage.fold({ type: 'chat/toolCallStart', ...call, toolName: 'run', displayName: 'Run' })
  stage.ids.add('c')
  const ready = { invocationMessage: 'x', toolInput: 'make', confirmed: 'user-action' }
  stage.fold({ type: 'chat/toolCallReady', ...call, ...ready })
  const content = [{ type: 'terminal', resource: 't:/1', title: '' } as const]
  stage.fold({ type: 'chat/toolCallContentChanged', ...call, content })
  expect(callsIn(await run.end())).toMatchObject([
    { success: false, error: { message: 'this was interrupted' } },
  ])
})
