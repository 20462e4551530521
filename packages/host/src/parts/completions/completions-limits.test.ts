import { expect, test } from 'vitest'
import { untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import { complete, texts, setUp } from '../../../test/completing.ts'

test('[S-57 completionItems] at 50: all of them', async () => {
  const { ann } = await setUp(Array.from({ length: 50 }, (_, i) => `/w/a${i}`))
  expect(await texts(ann, '@a')).toHaveLength(50)
})

test('[S-57 completionItems] past 50: the best', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `/w/a${i}`)
  const { ann } = await setUp([...names, '/w/a', '/w/ba', '/x/a1', '/x/a'], { directories: ['/w', '/x'] })
  const found = await texts(ann, '@a')
  expect(found).toHaveLength(50)
  expect(found.slice(0, 2)).toEqual(['@w/a', '@x/a'])
  expect(found).not.toContain('@w/ba')
})

test('[S-57 completionMs] at 1,000: what is found by then is in the response', async () => {
  const { all, ann, files } = await setUp(['/w/a'])
  files.hangs = true
  const answer = texts(ann, '@')
  await until(() => files.asked.length > 0)
  all.world.advance(999)
  expect(await Promise.race([answer, untilIdle().then(() => 'waits')])).toBe('waits')
  all.world.advance(1)
  expect(await answer).toEqual([])
})

test('[J3.3] [J3] an answer that had to leave files or commands out says that it is incomplete', async () => {
  let say: (paths: readonly string[]) => void = () => {}
  const files = () => new Promise<readonly string[]>((resolve) => (say = resolve))
  const { all, ann } = await setUp([], { vcs: { root: async () => '/w', files } })
  for (const text of ['@', '#']) {
    const answer = complete(ann, text)
    await untilIdle()
    all.world.advance(1000)
    expect(await answer).toEqual({ items: [], _meta: { 'x-atrium': { incomplete: true } } })
  }
  say(['late.ts'])
  await untilIdle()
  const { items, ...rest } = await complete(ann, '@')
  expect(items).toHaveLength(1)
  expect(rest).toEqual({})
})

test('[J3.3] [S-57 completionMs] past 1,000: a late listing serves the next request', async () => {
  let say: (paths: readonly string[]) => void = () => {}
  const files = () => new Promise<readonly string[]>((resolve) => (say = resolve))
  const { all, ann } = await setUp([], { vcs: { root: async () => '/w', files } })
  const answer = texts(ann, '@')
  await untilIdle()
  all.world.advance(1001)
  expect(await answer).toEqual([])
  say(['late.ts'])
  await untilIdle()
  expect(await texts(ann, '@')).toEqual(['@late.ts'])
})

test('[S-57 listingMs] at 5,000: a directory is read again', async () => {
  const { all, ann, files } = await setUp(['/w/a'])
  expect(await texts(ann, '@')).toEqual(['@a'])
  files.put('/w/b', '')
  all.world.advance(5000)
  expect(await texts(ann, '@')).toEqual(['@a', '@b'])
})

test('[S-57 listingMs] past 5,000 it is read again, before that it is not', async () => {
  const { all, ann, files } = await setUp(['/w/a'])
  await Promise.all([texts(ann, '@'), texts(ann, '@a')])
  all.world.advance(4999)
  await texts(ann, '@a')
  expect(files.asked).toHaveLength(1)
  all.world.advance(2)
  await texts(ann, '@a')
  expect(files.asked).toHaveLength(2)
})

const directories = (count: number) => Array.from({ length: count }, (_, i) => `/d${i}`)
const oneIn = (all: readonly string[]) => all.map((directory) => `${directory}/a`)

test('[S-57 listings] at 16: that many directories are cached', async () => {
  const sixteen = directories(16)
  const { ann, files } = await setUp(oneIn(sixteen), { directories: sixteen })
  expect(await texts(ann, '@a')).toHaveLength(16)
  await texts(ann, '@a')
  expect(files.asked).toHaveLength(16)
})

test('[S-57 listings] past 16: further directories are not searched', async () => {
  const many = directories(17)
  const { ann, files } = await setUp(oneIn(many), { directories: many })
  expect(await texts(ann, '@a')).toHaveLength(16)
  expect(files.asked.some(({ place }) => place.path === '/d16')).toBe(false)
})
