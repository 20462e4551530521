import { expect, test } from 'vitest'
import { RequestQueue } from './request-queue.ts'

test('[L9] [H5] [L9.12] a queue that is never empty keeps its order and counts only the waiting tasks', async () => {
  const queue = new RequestQueue()
  const done: number[] = []
  const gates: (() => void)[] = []
  const lengths: number[] = []
  const one = (n: number) =>
    queue.run(async () => {
      await new Promise<void>((resolve) => gates.push(resolve))
      done.push(n)
    }, 88)
  const all = [one(0), one(1), one(2)]
  for (let n = 3; n < 3000; n++) {
    gates.shift()?.()
    await all[n - 3]
    lengths.push(queue.length)
    all.push(one(n))
  }
  // One task runs and one waits: 88 characters and the constant cost of a task.
  expect(new Set(lengths)).toEqual(new Set([600]))
  for (const last of all.slice(-3)) {
    gates.shift()?.()
    await last
  }
  expect(done).toEqual(Array.from({ length: 3000 }, (_, n) => n))
  expect(queue.length).toBe(0)
})

test('[L9] a task that fails holds up no other, and a cleared task never begins', async () => {
  const queue = new RequestQueue()
  const fails = queue.run(() => Promise.reject(new Error('first')))
  const throws = queue.run(() => {
    throw new Error('second')
  })
  const works = queue.run(() => 'third')
  await expect(fails).rejects.toThrow('first')
  await expect(throws).rejects.toThrow('second')
  expect(await works).toBe('third')
  let begun = false
  const last = queue.run(() => Promise.resolve())
  void queue.run(() => (begun = true), 10)
  queue.clear()
  await last
  expect([begun, queue.length]).toEqual([false, 0])
})
