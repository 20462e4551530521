import { expect, test } from 'vitest'
import { keptCount, opened } from './kept.ts'
import type { Kept } from './kept.ts'
import type { Route } from '../ui/route.ts'

const after = (...routes: readonly Route[]) => routes.reduce<readonly Kept[]>(opened, [])
const names = (kept: readonly Kept[]) => kept.map(({ session }) => session).join('')

test('[U48] the last four sessions are kept, and the one that was left longest ago goes', () => {
  expect(keptCount).toBe(4)
  expect(names(after({ session: 'a' }, { session: 'b' }, {}, { session: 'c' }, { session: 'd' }))).toBe(
    'abcd',
  )
  const five = ['a', 'b', 'c', 'd', 'a', 'e'].map((session) => ({ session }))
  expect(names(after(...five))).toBe('acde')
})

test('[U48] a session that is opened again stays in its place, with the chat of its route', () => {
  const kept = after({ session: 'a' }, { session: 'b' }, { session: 'a', chat: 'x' })
  expect(names(kept)).toBe('ab')
  expect(kept[0]?.chat).toBe('x')
  expect(opened(kept, { session: 'a', chat: 'x' })).toBe(kept)
  expect(opened(kept, {})).toBe(kept)
})
