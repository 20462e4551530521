import { expect, test } from 'vitest'
import { withTimeout } from './timeout.ts'

const never = new Promise<string>(() => {})

function manualTimer() {
  let fire = () => {}
  let cancelled = false
  const later = (_ms: number, task: () => void) => {
    fire = task
    return () => {
      cancelled = true
    }
  }
  return { later, fire: () => fire(), cancelled: () => cancelled }
}

test('a task that settles in time gives its result or its error, and its timer is cancelled', async () => {
  const { later, cancelled } = manualTimer()
  expect(await withTimeout(later, 1, Promise.resolve('done'), () => 'late')).toBe('done')
  expect(cancelled()).toBe(true)
  await expect(withTimeout(later, 1, Promise.reject(new Error('no')), () => 'late')).rejects.toThrow('no')
})

test('a task that is late gives the result of the timeout, or the error that the timeout throws', async () => {
  const { later, fire } = manualTimer()
  const replaced = withTimeout(later, 1, never, () => 'late')
  fire()
  expect(await replaced).toBe('late')
  const failed = withTimeout(later, 1, never, () => {
    throw new Error('too late')
  })
  fire()
  await expect(failed).rejects.toThrow('too late')
})
