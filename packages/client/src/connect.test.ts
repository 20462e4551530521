import { describe, expect, onTestFinished, test } from 'vitest'
import { untilIdle } from '../../host/test/held-flushes.ts'
import { ManualClock } from '../test/host-and-clients.ts'
import { connect } from './connect.ts'
import type { ConnectOptions } from './connect.ts'

/** A clock that gives the longest delays. */
class LongestDelays extends ManualClock {
  override random(): number {
    return 1
  }
}

type Listener = (event: object) => void

/** A socket to an address at which nothing answers. */
class DeadSocket {
  readonly readyState = 3
  readonly bufferedAmount = 0

  send(): void {}

  close(): void {}

  addEventListener(type: string, listener: Listener): void {
    if (type === 'close') queueMicrotask(() => listener({ code: 1006, reason: '' }))
  }
}

/** Returns the delays before the next attempts of a client that nothing answers. */
async function delaysOf(given: Partial<ConnectOptions>): Promise<readonly (number | undefined)[]> {
  const clock = new LongestDelays()
  const client = connect({ ...given, world: clock, WebSocket: DeadSocket as never })
  onTestFinished(() => client.close())
  const delays: (number | undefined)[] = []
  for (let attempt = 0; attempt < 9; attempt++) {
    await untilIdle()
    delays.push(client.link.retryInMs)
    clock.advance(client.link.retryInMs ?? 0)
  }
  return delays
}

describe('a client that nothing answers', () => {
  test('[U50] with several addresses waits for at most 2 s before its next attempt', async () => {
    const urls = ['ws://one.example', 'ws://two.example']
    expect(await delaysOf({ urls })).toEqual([250, 500, 1000, 2000, 2000, 2000, 2000, 2000, 2000])
  })

  test('[U50] with several addresses waits as long as the app says', async () => {
    const urls = ['ws://one.example', 'ws://two.example']
    expect(await delaysOf({ urls, longestRetryMs: 700 })).toEqual([250, 500, ...Array(7).fill(700)])
  })

  test('[U4] with one address waits for up to 30 s', async () => {
    const delays = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
    expect(await delaysOf({ url: 'ws://one.example' })).toEqual(delays)
    expect(await delaysOf({ urls: ['ws://one.example'] })).toEqual(delays)
  })
})
