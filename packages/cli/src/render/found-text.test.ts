import { expect, test } from 'vitest'
import { styled } from '../terminal/output.ts'
import { foundText } from './found-text.ts'

const item = {
  session: 'ahp-session:/1',
  who: 'user',
  time: '2026-01-31T14:05:59Z',
  title: 'Fix the login',
  excerpt: {
    text: 'the login page',
    matches: [
      { start: 4, end: 9 },
      { start: 10, end: 14 },
    ],
  },
}

test('[Z50.1] a found text has its session, time, author, title, and its matches in colour', () => {
  expect(foundText(item, '1234abcd', styled(false))).toBe(
    '1234abcd  2026-01-31 14:05  you  Fix the login\n    the login page\n',
  )
  expect(foundText(item, '1234abcd', styled(true))).toContain(
    'the \u001b[1m\u001b[33mlogin\u001b[39m\u001b[22m \u001b[1m\u001b[33mpage\u001b[39m\u001b[22m\n',
  )
})

test('[Z2.4] escape sequences of a found text reach no terminal, and matches out of place are ignored', () => {
  const excerpt = {
    text: 'a\u001b[31mb\u009b\nc',
    matches: [
      { start: 1, end: 2 },
      { start: 0, end: 1 },
      { start: 5, end: 99 },
    ],
  }
  const shown = foundText({ ...item, title: '\u001b]0;x\u0007', who: 'odd', excerpt }, 'n', styled(false))
  expect(shown).toBe('n  2026-01-31 14:05  \ufffd]0;x\ufffd\n    a\ufffd[31mb\ufffd c\n')
})
