import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostileRoot, hostileUris } from '../test/hostile-uris.ts'
import { fileUri, pathOf } from './file-uri.ts'

test.each([
  ['file:///', '/'],
  ['file:/', '/'],
  ['file:///work', '/work'],
  ['file:/work/a', '/work/a'],
  ['file://localhost/work/a', '/work/a'],
  ['file:///work/a/', '/work/a'],
  ['file:///work/a%20b', '/work/a b'],
  ['file:///work/%C3%BC', '/work/ü'],
  ['file:///work/ü', '/work/ü'],
  ['file:///work/%F0%9F%98%80', '/work/😀'],
  ['file:///work/a:b', '/work/a:b'],
  ['file:///work/a+b&c=d,e;f@g', '/work/a+b&c=d,e;f@g'],
  ['file:///work/100%25', '/work/100%'],
])('[E9] S-28: %s is %s', (uri, path) => {
  expect(pathOf(uri)).toEqual({ ok: true, path })
})

test('[E9] S-28: the corpus has more than 250 URIs and none twice', () => {
  expect(new Set(hostileUris.map(({ uri }) => uri)).size).toBe(hostileUris.length)
  expect(hostileUris.length).toBeGreaterThan(250)
})

describe('[S-28] [E9.1] URIs made to be misread', () => {
  const short = hostileUris.map((each) => [each.uri.slice(0, 60), each.why, each] as const)
  test.each(short)('%j %s', (_, __, { uri, verdict }) => {
    const found = pathOf(uri)
    if (verdict === 'refused') {
      expect(found).toMatchObject({ ok: false })
      expect(pathOf(uri, true)).toMatchObject({ ok: false })
    } else if (verdict === 'windows') {
      expect(found).toMatchObject({ ok: true })
      expect(found.ok && found.path.startsWith(`${hostileRoot}/`)).toBe(true)
      expect(pathOf(uri.replace('file:///work', 'file:///C:'), true)).toMatchObject({ ok: false })
    } else {
      expect(found).toEqual({ ok: true, path: verdict.path })
      expect(found.ok && found.path.startsWith(`${hostileRoot}/`)).toBe(true)
    }
  })
})

test.each([
  ['file:///C:/Users/a', '/C:/Users/a'],
  ['file:///c%3A/Users/a', '/c:/Users/a'],
  ['file:///C:/', '/C:'],
  ['file:///C:/a.b/console/nullable/com10', '/C:/a.b/console/nullable/com10'],
])('[E9] S-28: on Windows %s is %s, and elsewhere it is refused', (uri, path) => {
  expect(pathOf(uri, true)).toEqual({ ok: true, path })
  expect(pathOf(uri)).toMatchObject({ ok: false })
})

test.each(['file:///', 'file:///work/a', 'file:////host/share', 'file:///1:/a', 'file:///C:/D:/a'])(
  '[E9] S-28: on Windows %s is refused',
  (uri) => expect(pathOf(uri, true)).toMatchObject({ ok: false }),
)

test('[S-57 pathBytes] at 4,096: the path is accepted', () => {
  const path = `/${'ü'.repeat(2047)}a`
  expect(pathOf(fileUri(path))).toEqual({ ok: true, path })
})
test('[S-57 pathBytes] past 4,096: the path is refused', () =>
  expect(pathOf(fileUri(`/${'ü'.repeat(2048)}`))).toEqual({
    ok: false,
    problem: 'The URI is longer than 4096 bytes.',
  }))

test('[E9] S-28: a path without forbidden parts survives the way to a URI and back', () => {
  const unit = fc.oneof(
    fc.constantFrom('a', 'B', '.', ' ', '%', '?', '#', ':', '@', "'", '(', '!', '\n', '\u200b', '2', 'e'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  )
  const name = fc.string({ unit, minLength: 1, maxLength: 8 })
  let accepted = 0
  fc.assert(
    fc.property(fc.array(name, { maxLength: 5 }), (names) => {
      const path = `/${names.join('/')}`
      const found = pathOf(fileUri(path))
      if (found.ok) accepted++
      const sound =
        !/[\0\\\p{Surrogate}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\/\//u.test(path) &&
        !/\/\.{1,2}(\/|$)/.test(path) &&
        !/^\/[a-z][:|]/i.test(path) &&
        !(path.length > 1 && path.endsWith('/'))
      if (sound) expect(found).toEqual({ ok: true, path })
      else if (found.ok) expect(`${found.path}/`).toBe(path)
    }),
    { numRuns: 3000 },
  )
  expect(accepted).toBeGreaterThan(1000)
})

test('[E9] S-28: any text is either refused or gives an absolute path without `..` and empty names', () => {
  const pieces = fc.constantFrom(
    'file:',
    '//',
    '/',
    'a',
    '..',
    '%2e',
    '%',
    '%2F',
    '\\',
    'localhost',
    '?',
    '%00',
    'C:',
    'ü',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces).map((each) => each.join('')),
  )
  fc.assert(
    fc.property(text, fc.boolean(), (uri, windows) => {
      const found = pathOf(uri, windows)
      if (!found.ok) {
        expect(found.problem).toMatch(/^The URI [\x20-\x7e]+\.$/)
        return
      }
      expect(found.path === '/' || /^(\/[^/]+)+$/s.test(found.path)).toBe(true)
      expect(found.path.split('/')).not.toContain('..')
      expect(pathOf(fileUri(found.path), windows)).toEqual(found)
    }),
    { numRuns: 5000 },
  )
})
