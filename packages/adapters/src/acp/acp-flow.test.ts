import type { ContentRef } from '@atrium/protocol/common/content'
import type { Chat } from '@atrium/host/ports/agent'
import { expect, test } from 'vitest'
import { AcpTurn } from './acp-turn.ts'
import { Voice } from './output-stream.ts'
import { Lines } from './process/line-transport.ts'
import { PassThrough } from 'node:stream'

test('[N47] what takes time to keep makes the agent wait, until it is kept', async () => {
  const kept: (() => void)[] = []
  const keep = () => new Promise<ContentRef>((resolve) => kept.push(() => resolve({ uri: 'x:/1' })))
  const chat = { turnId: 't', state: { turns: [] }, keep } as unknown as Chat
  let holds = 0
  const voice = new Voice({ pause: () => void holds++, resume: () => void holds-- })
  const turn = new AcpTurn(chat, voice, '/')
  const image = { type: 'image', data: 'aA==', mimeType: 'image/png' }
  const update = { sessionUpdate: 'agent_message_chunk', content: image } as never
  let said = 0
  for (; holds === 0 && said < 1000; said++) turn.update(update)
  expect([holds, said]).toEqual([1, 256])
  for (; holds > 0; await new Promise((resolve) => setImmediate(resolve))) kept.shift()?.()
  expect(holds).toBe(0)
})

test('[N42] a turn that is taken up again and again gives no name twice', async () => {
  // The second has none, and the third was never said.
  const part = (n: number) => ({ kind: 'markdown', id: `t-${n}`, content: '' })
  const responseParts = [part(1), { kind: 'systemNotification', content: '' }, part(4)]
  const activeTurn = { id: 't', responseParts }
  const chat = { turnId: 't', state: { turns: [], activeTurn } } as unknown as Chat
  const voice = new Voice({ pause: () => {}, resume: () => {} })
  new AcpTurn(chat, voice, '/').update({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: 'a' },
  } as never)
  voice.end()
  for await (const said of voice.words()) expect(said).toMatchObject({ part: { id: 't-5' } })
})

test('[N47] two who are not listened to hold one agent up, and it goes on when both are', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const lines = new Lines(input, output, { most: 100, stray: () => {}, broken: () => {} })
  const heard: string[] = []
  lines.receive((line) => heard.push(line))
  lines.pause()
  lines.pause()
  output.write('{"a":1}\n')
  lines.resume()
  await new Promise((resolve) => setImmediate(resolve))
  expect(heard).toEqual([])
  lines.resume()
  await new Promise((resolve) => setImmediate(resolve))
  expect(heard).toEqual(['{"a":1}'])
})

test('[N47] answers that are not read are not piled up: nothing more is heard until they are', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const lines = new Lines(input, output, { most: 10_000, stray: () => {}, broken: () => {} })
  let asked = 0
  lines.receive(() => {
    asked++
    lines.send('x'.repeat(2 ** 20))
  })
  for (let i = 0; i < 100; i++) output.write('{}\n')
  // As often as all of it could have been read.
  for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toBeLessThan(10)
  input.resume()
  while (asked < 100) await new Promise((resolve) => setImmediate(resolve))
})
