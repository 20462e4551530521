import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { queryOf, termsOf } from './query.ts'

const shown = (query: string) =>
  termsOf(query).map(({ text, prefix }) => `${/\s/.test(text) ? `<${text}>` : text}${prefix ? '*' : ''}`)

test.each([
  ['fix login', ['fix', 'login']],
  ['"fix the login" page', ['<fix the login>', 'page']],
  ['log* "sign in"*', ['log*', '<sign in>*']],
  ['“typed by a phone” „und so”', ['<typed by a phone>', '<und so>']],
  ['"never closed', ['<never closed>']],
  ['say ""', ['say']],
  ['a* é* 你*', ['a', 'é', '你']],
  ['Fix fix FIX fix*', ['FIX', 'fix*']],
  ['src/app.ts don’t', ['src/app.ts', 'don’t']],
  ['a:b ^c (d OR e) -f + NEAR', ['a:b', '^c', '(d', 'OR', 'e)', '-f', 'NEAR']],
  ['** " " - … 🙂 \0', []],
  ['', []],
])('[Q24] the query %j has the terms %j', (query, terms) => {
  expect(shown(query)).toEqual(terms)
})

const asked = (more: object) => queryOf({ channel: 'x:/', query: 'word', ...more }, limits)

test('[S-57 queryLength] at 1,000 characters a query is read; [S-57 queryLength] past 1,000 it is refused', () => {
  expect(asked({ query: 'x'.repeat(1000) }).terms).toHaveLength(1)
  expect(() => asked({ query: 'x'.repeat(1001) })).toThrow('longer than 1000 characters')
})

test('[S-57 queryTerms] at 32 terms a query is read; [S-57 queryTerms] past 32 it is refused', () => {
  const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(' ')
  expect(asked({ query: words(32) }).terms).toHaveLength(32)
  expect(() => asked({ query: words(33) })).toThrow('more than 32 words and phrases')
})

test('[S-57 foundPage] at 100 texts a page is as long as was asked; [S-57 foundPage] past 100 it is cut', () => {
  expect([99, 100, 101, 0].map((limit) => asked({ limit }).limit)).toEqual([99, 100, 100, 1])
})

test.each([
  [{ folder: 'http://x/y' }, 'folder: The URI is not a file: URI.'],
  [{ since: 'yesterday' }, 'since is no time: "yesterday"'],
  [{ until: '' }, 'until is no time: ""'],
  [{ cursor: 'x' }, 'unknown cursor'],
  [{ cursor: '9999999999999999' }, 'unknown cursor'],
])('[Q24] wrong params are refused with a sentence: %j', (wrong, problem) => {
  expect(() => asked(wrong)).toThrow(problem)
})

test('[Q23] a folder becomes a path, and times become milliseconds', () => {
  expect(
    asked({ folder: 'file:///work/my%20app/', since: '2026-01-01', until: '2026-01-01T12:00:00+01:00' }),
  ).toMatchObject({ folder: '/work/my app', since: 1767225600000, until: 1767265200000 })
})
