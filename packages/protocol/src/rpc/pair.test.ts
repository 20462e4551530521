import { expect, test } from 'vitest'
import { pair } from './pair.ts'
import { transportContract } from './transport.contract.ts'

transportContract('pair', async () => pair())

test('[R1] frames that arrive before the listener is set are kept for it', async () => {
  const tasks: (() => void)[] = []
  const [a, b] = pair((task) => tasks.push(task))
  a.send('early')
  expect(a.buffered).toBe(5)
  for (const task of tasks.splice(0)) task()
  const got: string[] = []
  b.receive((frame) => got.push(frame))
  expect(got).toEqual(['early'])
})
