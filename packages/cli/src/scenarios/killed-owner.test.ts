import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { tamper } from '../../../adapters/test/postgres/place.ts'
import { postgresTests } from '../../../adapters/test/postgres/store.ts'
import { startNode } from '../../test/node-process.ts'

const server = postgresTests()

test.skipIf(process.platform !== 'linux')(
  '[L40.4] [L56.2] a host that is started again after it was killed takes its own lease back, which would last longer than this test',
  async () => {
    const [place, { password }] = [await server().place(), server()]
    const options = { place, password, flags: ['--lease', '600'] }
    const one = await startNode('one', options)
    expect(await one.readyz()).toBe('200 owner')
    one.child.kill('SIGKILL')
    await once(one.child, 'exit')
    const next = await startNode('one', { ...options, home: one.home })
    await vi.waitUntil(async () => (await next.readyz()) === '200 owner', { timeout: 200_000, interval: 20 })
    expect(await tamper(place, 'SELECT epoch::int, node FROM lease')).toEqual([
      { epoch: 2, node: `one:${next.child.pid}` },
    ])
  },
)
