import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { warmRead } from './warm.ts'

test('[L46.2] a standby reads the session list, and the heads of the sessions that were changed last', async () => {
  const { records, log } = memoryStore()
  for (const n of Array.from({ length: 120 }).keys()) {
    const uri = `ahp-session:/${n}`
    records.put(
      `session/${uri}`,
      JSON.stringify({ resource: uri, modifiedAt: new Date(n * 1000).toISOString() }),
    )
  }
  await log.flush()
  const loaded: string[] = []
  const load: typeof log.load = (channel) => {
    loaded.push(channel)
    return Promise.resolve(undefined)
  }
  await warmRead({ records, log: { ...log, load } })
  expect(loaded).toHaveLength(100)
  expect(loaded[0]).toBe('ahp-session:/119')
  expect(loaded).not.toContain('ahp-session:/0')
})
