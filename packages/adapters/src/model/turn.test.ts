import { expect, test } from 'vitest'
import { callsIn, failureIn, later, modelRoom, textOf, world, yes } from '../../test/model-room.ts'
import { callError, partsOf, scriptedProvider, streamOf } from '../../test/scripted-model.ts'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { agentOn } from './model.ts'
import { continuePrompt } from './prompt.ts'

const steer = (text: string) => ({
  type: 'chat/pendingMessageSet',
  kind: 'steering',
  id: `s-${text}`,
  message: { text, origin: { kind: 'user' } },
})
const userMessage = (text: string) => ({ role: 'user', text })

test('[N20.4] a message names its model and effort; later ones use the last that was named, and at first the default', async () => {
  const asked: unknown[] = []
  const efforts = ['low', 'high']
  const provider = {
    ...scriptedProvider(),
    models: [{ id: 'one' }, { id: 'two', efforts }],
    requestOptions: (id: string, effort: string | undefined) => (asked.push([id, effort]), {}),
  }
  const stage = new HostlessChat(agentOn([provider], { world }))
  const high = { id: 'mock/two', config: { effort: 'high' } }
  for (const model of [undefined, high, undefined, { id: 'mock/one' }, undefined])
    await stage.turn({ text: 'say x', ...(model && { model }) })
  expect(asked).toEqual([
    ['one', undefined],
    ['two', 'high'],
    ['two', 'high'],
    ['one', undefined],
    ['one', undefined],
  ])
})

test('[N25] a steering message is included in the next request, and is shown in the chat', async () => {
  const { begin, ended, pending, answer, dispatch, sent, state, turn } = await modelRoom()
  const turnId = await begin('call run {"command":"a"} ; say done')
  await pending()
  await dispatch(steer('say turned'))
  await answer(0, yes)
  const done = await ended(turnId)
  expect(textOf(done)).toBe('turned')
  expect(sent().at(-1)).toEqual(userMessage('say turned'))
  expect(state()).not.toHaveProperty('steeringMessage')
  expect(done.responseParts[1]).toMatchObject({ kind: 'systemNotification', content: 'say turned' })
  await turn('say next')
  const words = sent().map(({ text }) => text)
  expect(words.slice(-3)).toEqual(['say turned', 'turned', 'say next'])
})

test('[N25] a steering message during the last response is answered in the same turn, once', async () => {
  const { begin, ended, dispatch, provider, state } = await modelRoom()
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const usual = provider.model.doStream
  let start = () => {}
  const started = new Promise<void>((resolve) => (start = resolve))
  provider.model.doStream = async (options) => {
    start()
    await released
    provider.model.doStream = usual
    return usual(options)
  }
  const turnId = await begin('say first')
  await started
  await dispatch(steer('say second'))
  release()
  const turn = await ended(turnId)
  expect(textOf(turn)).toBe('firstsecond')
  expect(state().turns).toHaveLength(1)
})

test('[N26.1] [N26] a turn that waited for approval when its host died continues, and no call runs twice', async () => {
  const { host, begin, pending, again, terminals, provider } = await modelRoom()
  const turnId = await begin('say first ; call run {"command":"a"} & call run {"command":"b"} ; say done')
  await pending(0)
  await pending(1)
  await host.restart('crash')
  const ben = await again()
  await ben.answer(1, yes)
  await ben.answer(0, yes)
  const turn = await ben.ended(turnId)
  expect([turn.state, textOf(turn)]).toEqual(['complete', 'firstdone'])
  expect(terminals.shells.map(({ start }) => start.command)).toEqual(['a', 'b'])
  expect(provider.model.doStreamCalls).toHaveLength(2)
})

test('[N26.1] [N26] a call that ran when its host died does not run again: the model gets an interruption as its result', async () => {
  const { host, begin, pending, answer, until, again, terminals, sent } = await modelRoom()
  terminals.start = async () => new Promise(() => {})
  const turnId = await begin('call run {"command":"a"} ; say done')
  await pending()
  await answer(0, yes)
  await until(({ activeTurn }) => callsIn(activeTurn)[0]?.status === 'running')
  await host.restart('crash')
  const ben = await again()
  const broken = await ben.ended(turnId)
  expect(failureIn(broken)).toMatchObject({ errorType: 'interrupted', resumable: true })
  await ben.dispatch({ type: 'chat/turnResume', turnId })
  await ben.pending(1)
  expect(sent().at(-1)?.text).toContain('This was interrupted')
  expect(callsIn(ben.state().activeTurn)).toMatchObject([{ status: 'cancelled' }, { toolInput: 'a' }])
})

test('[N26.2] [N26] an interrupted text continues in its part, and the model is asked to continue it', async () => {
  const provider = scriptedProvider()
  const stage = new HostlessChat(agentOn([provider], { world }))
  const run = stage.begin('say Hello, this is a longer text')
  for (let i = 0; i < 3; i++) await run.step()
  await run.cut()
  const turn = await stage.resume().end()
  expect(textOf(turn)).toBe('Hello, this is a longer text')
  expect(turn.responseParts.filter(({ kind }) => kind === 'markdown')).toHaveLength(1)
  expect(JSON.stringify(provider.model.doStreamCalls.at(-1)?.prompt)).toContain(
    JSON.stringify(continuePrompt).slice(1, -1),
  )
})

test('[N27] cancelling a turn aborts its request at once', async () => {
  const { begin, ended, dispatch, until, provider } = await modelRoom()
  const turnId = await begin('say slowly ; hang')
  await until(({ activeTurn }) => textOf(activeTurn).startsWith('slow'))
  const { abortSignal } = provider.model.doStreamCalls[0] ?? {}
  expect(abortSignal?.aborted).toBe(false)
  await dispatch({ type: 'chat/turnCancelled', turnId, duration: 1 })
  const turn = await ended(turnId)
  expect([turn.state, abortSignal?.aborted]).toEqual(['cancelled', true])
})

test('[N28] an overloaded model is asked again after the delay that it asks for', async () => {
  const provider = scriptedProvider()
  const delays: number[] = []
  const slow = { ...world, later: (ms: number, task: () => void) => (delays.push(ms), later(ms, task)) }
  const usual = provider.model.doStream
  const errors = [callError(429, { 'retry-after': '7' }), callError(529), callError(503)]
  provider.model.doStream = async (options) => {
    const error = errors.shift()
    if (error) throw error
    return usual(options)
  }
  const stage = new HostlessChat(agentOn([provider], { world: slow }))
  const run = stage.begin('say at last')
  expect(textOf(await run.end())).toBe('at last')
  expect(delays).toEqual([7000, 3000, 9000])
  const said = run.said.flatMap((action) =>
    action.type === 'chat/activityChanged' ? (action.activity ?? []) : [],
  )
  expect(said).toEqual([
    'Mock is busy (429); attempt 2 of 5 in 7 s',
    'Mock is busy (529); attempt 3 of 5 in 3 s',
    'Mock failed (503); attempt 4 of 5 in 9 s',
  ])
  expect(stage.state.turns[0]?.responseParts.map((part) => 'content' in part && part.content)).toEqual([
    'Mock is busy (429). The request is repeated, at most 4 times.',
    'at last',
  ])
  expect(stage.state).not.toHaveProperty('activity')
})

test('[N28.3] [N28] a model that stays overloaded fails the turn, which can be resumed', async () => {
  const { turn, provider, resume } = await modelRoom()
  const usual = provider.model.doStream
  let requests = 0
  provider.model.doStream = async () => {
    requests++
    throw callError(429)
  }
  const failed = await turn('say something')
  expect(failureIn(failed)).toMatchObject({
    errorType: 'overloaded',
    resumable: true,
    message: 'Mock is busy (429). Resume this turn later. The request was made 5 times.',
  })
  expect(requests).toBe(5)
  provider.model.doStream = usual
  expect(textOf(await resume(failed.id))).toBe('something')
})

test.each([
  ['is cut off', () => streamOf(partsOf([{ kind: 'say', text: 'half' }, { kind: 'break' }])), 'ended early'],
  [
    'reports an error',
    () =>
      streamOf([
        ...partsOf([{ kind: 'say', text: 'half' }, { kind: 'break' }]),
        { type: 'error' as const, error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]),
    'Mock is busy. Resume',
  ],
])(
  '[N28.3] [N28] a stream that %s fails the turn, and a resumed turn continues its text',
  async (_, stream, message) => {
    const { turn, resume, provider } = await modelRoom()
    const usual = provider.model.doStream
    let signal: AbortSignal | undefined
    provider.model.doStream = async ({ abortSignal }) => {
      signal = abortSignal
      return { stream: stream() }
    }
    const failed = await turn('say half and half')
    expect(signal?.aborted).toBe(true)
    expect([textOf(failed), failureIn(failed)]).toMatchObject([
      'half',
      { resumable: true, message: expect.stringContaining(message) },
    ])
    provider.model.doStream = usual
    expect(textOf(await resume(failed.id))).toBe('half and half')
  },
)

test('[N25] a steering message that was taken when its host died is taken once', async () => {
  const provider = scriptedProvider()
  const stage = new HostlessChat(agentOn([provider], { world }))
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

test('[N26] a call that had started is not started again', async () => {
  const stage = new HostlessChat(agentOn([scriptedProvider()], { world }))
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
