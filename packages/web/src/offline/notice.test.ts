import { expect, test } from 'vitest'
import { noticeOf } from './notice.ts'

test.each([
  [
    { session: 's:/1', link: '/#/session/s%3A%2F1/c%3A%2F1' },
    'A session needs you',
    '/#/session/s%3A%2F1/c%3A%2F1',
  ],
  [{ session: 's:/1', link: '/#/session/s%3A%2F1' }, 'A session has ended', '/#/session/s%3A%2F1'],
  [{ session: '', link: '/#/' }, 'Atrium', '/#/'],
  [{ session: 's:/1', link: 'https://evil.example/#/session/x' }, 'A session has ended', '/#/'],
  [{ session: 's:/1', link: '//evil.example' }, 'A session has ended', '/#/'],
  [{ session: 1, link: {} }, 'Atrium', '/#/'],
])('[U46] the push %j is shown as "%s" and leads to %s', (push, title, link) => {
  expect(noticeOf(JSON.stringify(push))).toMatchObject({ title, link })
})

test.each(['', 'null', '[1]', '{'])(
  '[U46] the push %j, which is none of the host, leads nowhere else',
  (text) => {
    expect(noticeOf(text)).toMatchObject({ title: 'Atrium', link: '/#/' })
  },
)
