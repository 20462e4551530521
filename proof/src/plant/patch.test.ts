import { expect, test } from 'vitest'
import { patched } from './patch.ts'

const patch = { file: 'host/dist/kernel/log/log.js', find: 'one + one', put: "$& isn't $1" }

test('[B1] a patch replaces its text exactly, only in its own file', () => {
  expect(patched('file:///x/host/dist/kernel/log/log.js', 'a = one + one;', [patch])).toBe("a = $& isn't $1;")
  expect(patched('file:///x/host/dist/other.js', 'a = one + one;', [patch])).toBe('a = one + one;')
})

test.each(['nothing', 'one + one, one + one'])(
  '[B1] a patch whose text is missing or ambiguous is an error: %s',
  (text) => {
    expect(() => patched('file:///x/host/dist/kernel/log/log.js', text, [patch])).toThrow(
      'host/dist/kernel/log/log.js has',
    )
  },
)
