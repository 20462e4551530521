import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { chat, modelRoom, textOf } from '../../test/model-room.ts'
import { callError, partsOf, streamOf } from '../../test/scripted-model.ts'

test('[N29.1] [N29] a conversation that becomes too long is summarized in the chat; older turns do not change', async () => {
  const { turn, sent, state, provider, host, again } = await modelRoom(
    {},
    { settings: { maxContextWindow: 4000 } },
  )
  const usual = provider.model.doStream
  provider.model.doStream = async (options) => {
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
  const texts = sent().map(({ text }) => text)
  expect(texts[0]).toContain('SHORT')
  expect(texts.join()).not.toContain('aaaa')
  // The summary is in the log, so it survives a restart.
  await host.restart('crash')
  const ben = await again()
  await ben.turn('say again')
  expect(sent()[0]?.text).toContain('SHORT')
  expect(sent()[1]?.text).toBe('say tiny')
  expect(
    sent()
      .map(({ text }) => text)
      .join(),
  ).not.toContain('aaaa')
  // The turn that holds the summary is truncated, so the older turns are sent in full again.
  await ben.dispatch({ type: 'chat/truncated', turnId: turns[0]?.id })
  await ben.turn('say afresh')
  expect(sent()[0]?.text).toContain('aaaa')
})

test('[N29.2] [N29] if the summary fails the newest turns are sent, and a turn that is too long loses its oldest results', async () => {
  const big = 'x'.repeat(4000)
  const { turn, sent, provider } = await modelRoom(
    { 'big.txt': big },
    { settings: { maxContextWindow: 4000 } },
  )
  const usual = provider.model.doStream
  provider.model.doStream = async (options) => {
    if (options.tools === undefined || options.tools.length === 0) throw callError(400)
    return usual(options)
  }
  const read = 'call read {"path":"big.txt"}'
  expect(textOf(await turn(`${read} ; ${read} ; ${read} ; ${read} ; say done`))).toBe('done')
  const results = sent()
    .filter(({ role }) => role === 'tool')
    .map(({ text }) => text.length)
  expect(results.slice(0, 2).every((length) => length < 100)).toBe(true)
  expect(results.at(-1)).toBeGreaterThan(1000)
  expect(textOf(await turn('say next'))).toBe('next')
  expect(sent()[0]?.text).toContain('left out')
})

test('[N29.3] [N29] a request that is refused as too long is repeated with fewer messages', async () => {
  const { turn, provider } = await modelRoom({}, { settings: { maxContextWindow: 100_000 } })
  for (const name of ['a', 'b']) await turn(`say ${name.repeat(30_000)}`)
  const usual = provider.model.doStream
  let refused = 0
  provider.model.doStream = async (options) => {
    const length = JSON.stringify(options.prompt).length
    if (length > 50_000 && ++refused) throw callError(413)
    return usual(options)
  }
  expect(textOf(await turn('say done'))).toBe('done')
  expect(refused).toBeGreaterThan(0)
})

test('[N21.1] [N21] the model is sent the whole chat, also turns that are not in memory', async () => {
  const { turn, host, sent } = await modelRoom({}, { tail: 2 })
  const words = Array.from({ length: 40 }, (_, i) => `word${i}`)
  for (const word of words) await turn(`say ${word}`)
  await host.restart('close')
  // No client subscribes to the chat, so nobody but the agent loads older turns.
  const ben = await host.join('ben')
  const message = { text: 'say last', origin: { kind: 'user' } }
  ben.dispatch(chat, { type: 'chat/turnStarted', turnId: 'last', startedAt: '2026-01-01T00:00:00Z', message })
  const committed = () => host.core().log.channel(chat)?.committed as ChatState | undefined
  while (committed()?.turns.at(-1)?.id !== 'last') await new Promise((resolve) => setImmediate(resolve))
  expect(host.core().log.channel(chat)?.olderRows).toBeGreaterThan(0)
  expect(sent().map(({ text }) => text)).toEqual([
    ...words.flatMap((word) => [`say ${word}`, word]),
    'say last',
  ])
})

test('[N21.2] [N21] attachments are read for each request; an unreadable one is replaced by a note', async () => {
  const { turn, provider } = await modelRoom({}, { settings: { supportsVision: true } })
  const png = { type: 'embeddedResource', label: 'dot', data: 'iVBORw0KGgo=', contentType: 'image/png' }
  const note = { type: 'simple', label: 'n', modelRepresentation: 'remember \ud83d this' }
  const gone = { type: 'resource', label: 'gone', uri: 'file:///nowhere/x' }
  await turn('say seen', { attachments: [png, note, gone] })
  const content = provider.model.doStreamCalls[0]?.prompt.at(-1)?.content
  expect(content).toMatchObject([
    { type: 'file', mediaType: 'image/png' },
    { type: 'text', text: '<attachment name="n">\nremember \ufffd this\n</attachment>' },
    { type: 'text', text: expect.stringContaining('[attached: "gone", which cannot be read') },
    { type: 'text', text: 'say seen' },
  ])
})

test('[N21.3] [N21] reasoning is shown, and not sent back', async () => {
  const { turn, sent } = await modelRoom()
  const done = await turn('think hmm ; say I see')
  expect(done.responseParts.map(({ kind }) => kind)).toEqual(['reasoning', 'markdown'])
  await turn('say more')
  expect(sent().map(({ text }) => text)).toEqual(['think hmm ; say I see', 'I see', 'say more'])
})

test('[N21] a request is built only after all earlier output is committed', async () => {
  const slow = (task: () => void) => void setTimeout(task, 5)
  const { turn, sent } = await modelRoom({ 'a.txt': 'one' }, { soon: slow })
  await turn('say first ; call read {"path":"a.txt"} ; say then')
  expect(sent().slice(1)).toEqual([
    { role: 'assistant', text: 'first' },
    { role: 'tool', text: 'one' },
  ])
})
