import { expect, test } from 'vitest'
import { listed } from './fold.ts'

/** A disk with sessions of these titles, and the root's count. */
const disk = (titles: readonly string[], activeSessions: number) => {
  const uriOf = (_: string, at: number) => `ahp-session:/${at}`
  const sessions = titles.map((title, at) => ({ uri: uriOf(title, at), kind: 'session', state: { title } }))
  const root = { uri: 'ahp-root://', kind: 'root', state: { activeSessions } }
  const stored = { channels: [root, ...sessions], damaged: [], sessions: titles.map(uriOf) }
  return listed({ name: 'disk', histories: [], stored } as never)
}

test('[B10] a session is counted once it was used (I19)', () => {
  expect(disk(['named', ''], 1)).toEqual([])
  expect(disk(['named', ''], 2)).toEqual([])
  expect(disk(['named', ''], 0)).toMatchObject([{ rule: 'I3' }])
  expect(disk(['named'], 2)).toMatchObject([{ rule: 'I3' }])
})
