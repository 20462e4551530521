import { pair } from '@atrium/protocol/rpc/pair'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { expect, test } from 'vitest'
import { firstOpen } from './first-open.ts'
import { Refused } from './reconnect.ts'

/** A client with several addresses, and how each of them reacts to an attempt to connect. `hang`: it never answers. */
function addresses(answers: { [url: string]: 'open' | 'refuse' | 'fail' | 'hang' }) {
  const tried: string[] = []
  const timers = new Set<() => void>()
  const hanging: ((transport: Transport) => void)[] = []
  const open = async (url: string): Promise<Transport> => {
    tried.push(url)
    const answer = answers[url]
    if (answer === 'refuse') throw new Refused('the host refuses this token')
    if (answer === 'fail') throw new Error('no host answers')
    if (answer === 'hang') return new Promise((resolve) => void hanging.push(resolve))
    return pair()[0]
  }
  const world = {
    random: () => 0,
    after(_ms: number, task: () => void) {
      timers.add(task)
      return () => void timers.delete(task)
    },
  }
  const ring = () => {
    for (const task of timers) task()
  }
  return { answers, tried, timers, hanging, ring, dial: firstOpen(Object.keys(answers), open, world) }
}

test('[U50] the addresses are tried in order, and the one that answered last comes first', async () => {
  const { answers, tried, timers, dial } = addresses({ a: 'fail', b: 'open', c: 'open' })
  await dial()
  await dial()
  expect(tried).toEqual(['a', 'b', 'b'])
  answers['b'] = 'fail'
  await dial()
  expect(tried.slice(3)).toEqual(['b', 'c'])
  expect(timers.size).toBe(0)
})

test('[U50] an address that accepts a socket and does not answer is given up; if it opens later, it is closed', async () => {
  const { tried, hanging, ring, dial } = addresses({ a: 'hang', b: 'open' })
  const opened = dial()
  ring()
  await opened
  expect(tried).toEqual(['a', 'b'])
  const [late] = pair()
  const closed = new Promise((resolve) => late.closed.addEventListener('abort', resolve))
  hanging[0]?.(late)
  await closed
})

test('[U50] only if every address refuses the client is the attempt final', async () => {
  const all = addresses({ a: 'refuse', b: 'refuse' })
  await expect(all.dial()).rejects.toThrow(Refused)
  const some = addresses({ a: 'refuse', b: 'fail' })
  await expect(some.dial()).rejects.not.toThrow(Refused)
  await expect(some.dial()).rejects.toThrow('no host answers; the host refuses this token')
})
