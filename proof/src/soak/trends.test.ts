import { expect, test } from 'vitest'
import { Chance } from '../chance.ts'
import type { Sample } from './sample.ts'
import { trendsOf } from './trends.ts'

const minute = 12

test('[B26] noise is not reported as growth', () => {
  for (let seed = 1; seed <= 30; seed++) expect(growing(samples(20 * minute, seed))).toEqual([])
})

test('[B26] [F-46] growth of heap, descriptors and handles is found in noise', () => {
  const leaking = samples(20 * minute, 1, (at) => ({ heap: at * 5e4, fds: at / 60, handles: at / 60 }))
  expect(growing(leaking)).toEqual(['heap after a collection, MB', 'file descriptors', 'handles'])
})

test('[B26] growth during the warm-up is not reported', () => {
  const warming = samples(20 * minute, 1, (at) => ({ heap: Math.min(at, 300) * 1e5 }))
  expect(growing(warming)).toEqual([])
})

test('[B26] a short run is too short for a verdict', () => {
  const short = trendsOf(samples(minute, 1, (at) => ({ fds: at })))
  expect(short.find(({ name }) => name === 'file descriptors')?.verdict).toBe('too short')
})

test('[B26] figures that the system does not provide are left out', () => {
  const incomplete = samples(minute, 1).map((sample) => ({ ...sample, fds: undefined, links: undefined }))
  const names = trendsOf(incomplete).map(({ name }) => name)
  expect(names).not.toContain('file descriptors')
  expect(names).toContain('threads')
})

function growing(all: readonly Sample[]): readonly string[] {
  return trendsOf(all)
    .filter(({ verdict }) => verdict === 'grows')
    .map(({ name }) => name)
}

type Part = Partial<Record<'heap' | 'fds' | 'handles', number>>

/** One sample every five seconds, with some noise. `more` gives the growth to add at the time `at`. */
function samples(count: number, seed: number, more: (at: number) => Part = () => ({})): readonly Sample[] {
  const chance = new Chance(seed)
  const next = () => chance.next() / 2 ** 32
  return Array.from({ length: count }, (_, i) => {
    const { heap = 0, fds = 0, handles = 0 } = more(i * 5)
    return {
      at: i * 5,
      heap: 15e6 + next() * 2e6 + heap,
      rss: 120e6,
      fds: Math.round(60 + next() * 10 + fds),
      handles: Math.round(40 + next() * 10 + handles),
      threads: 12,
      children: 0,
      links: 40,
      channels: 20,
      database: 4e7,
    }
  })
}
