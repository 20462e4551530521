import { expect, test } from 'vitest'
import { RequestQueue } from './request-queue.ts'

test('[L9] [H5] a line that never empties keeps its order and counts only what waits', async () => {
  const line = new RequestQueue()
  const done: number[] = []
  const gates: (() => void)[] = []
  const lengths: number[] = []
  const one = (n: number) =>
    line.run(async () => {
      await new Promise<void>((resolve) => gates.push(resolve))
      done.push(n)
    }, 88)
  const all = [one(0), one(1), one(2)]
  for (let n = 3; n < 3000; n++) {
    gates.shift()?.()
    await all[n - 3]
    lengths.push(line.length)
    all.push(one(n))
  }
  // One runs, one waits: 88 characters and what a task costs.
  expect(new Set(lengths)).toEqual(new Set([600]))
  for (const last of all.slice(-3)) {
    gates.shift()?.()
    await last
  }
  expect(done).toEqual(Array.from({ length: 3000 }, (_, n) => n))
  expect(line.length).toBe(0)
})

test('[L9] a task that fails holds up nobody, and what is cleared never begins', async () => {
  const line = new RequestQueue()
  const fails = line.run(() => Promise.reject(new Error('first')))
  const throws = line.run(() => {
    throw new Error('second')
  })
  const works = line.run(() => 'third')
  await expect(fails).rejects.toThrow('first')
  await expect(throws).rejects.toThrow('second')
  expect(await works).toBe('third')
  let begun = false
  const last = line.run(() => Promise.resolve())
  void line.run(() => (begun = true), 10)
  line.clear()
  await last
  expect([begun, line.length]).toEqual([false, 0])
})
