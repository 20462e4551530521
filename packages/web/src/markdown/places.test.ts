import { expect, test } from 'vitest'
import { withPlaces } from './places.ts'

const places = (text: string) => withPlaces(text).flatMap((each) => (typeof each === 'string' ? [] : [each]))

test('[U57] lines of files are found in a text, and addresses with a port are not', () => {
  expect(places('see src/app.py:12 and /etc/a-b.toml:3:7, then main.ts:1.')).toEqual([
    { text: 'src/app.py:12', path: 'src/app.py', line: 12 },
    { text: '/etc/a-b.toml:3:7', path: '/etc/a-b.toml', line: 3 },
    { text: 'main.ts:1', path: 'main.ts', line: 1 },
  ])
  expect(places('example.com:8080 http://x.org/a.js:5 1.2:3 at 10:30 a.ts: 5')).toEqual([])
})

test('[U57] no character of the text is lost', () => {
  const text = 'a src/x.ts:1 b'
  expect(
    withPlaces(text)
      .map((each) => (typeof each === 'string' ? each : each.text))
      .join(''),
  ).toBe(text)
})
