import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { LineTransport } from './line-transport.ts'

const nextTick = () => new Promise((resolve) => setImmediate(resolve))

function transport(maxLineLength: number) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const options = { maxLineLength, onStray: () => {}, onBroken: () => {} }
  return { input, output, lines: new LineTransport(input, output, options) }
}

test('[N47] after two pauses reading continues with the second resume', async () => {
  const { output, lines } = transport(100)
  const received: string[] = []
  lines.receive((line) => received.push(line))
  lines.pause()
  lines.pause()
  output.write('{"a":1}\n')
  lines.resume()
  await nextTick()
  expect(received).toEqual([])
  lines.resume()
  await nextTick()
  expect(received).toEqual(['{"a":1}'])
})

test('[N47.3] [N47] while the agent does not read its responses, no further requests are read', async () => {
  const { input, output, lines } = transport(10_000)
  let requests = 0
  lines.receive(() => {
    requests++
    lines.send('x'.repeat(2 ** 20))
  })
  for (let i = 0; i < 100; i++) output.write('{}\n')
  // In 200 ticks all requests would be read, if reading were not paused.
  for (let i = 0; i < 200; i++) await nextTick()
  expect(requests).toBeLessThan(10)
  input.resume()
  while (requests < 100) await nextTick()
})
