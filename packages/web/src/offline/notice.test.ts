import { expect, test } from 'vitest'
import { noticeOf } from './notice.ts'

const needsYou = { title: 'A session needs you', body: 'Open it to answer.' }
const ended = { title: 'The work of a session has ended', body: 'Open it to see what was done.' }
const works = { title: 'Atrium', body: 'Notifications work.' }

test.each([
  [
    { session: 's:/1', link: '/#/session/s%3A%2F1/c%3A%2F1' },
    { ...needsYou, link: '/#/session/s%3A%2F1/c%3A%2F1' },
  ],
  [
    { session: 's:/1', link: '/#/session/s%3A%2F1' },
    { ...ended, link: '/#/session/s%3A%2F1' },
  ],
  [
    { session: '', link: '/#/' },
    { ...works, link: '/#/' },
  ],
  [
    { session: '', link: '/#/automations' },
    { title: 'An automation has missed a run', tag: 'automations', link: '/#/automations' },
  ],
  [
    { session: 's:/1', link: 'https://evil.example/#/session/x' },
    { ...ended, link: '/#/' },
  ],
  [
    { session: 's:/1', link: '//evil.example' },
    { ...ended, link: '/#/' },
  ],
  [
    { session: 1, link: {} },
    { ...works, link: '/#/' },
  ],
])('[U46] the push %j is shown as %j', (push, shown) => {
  expect(noticeOf(JSON.stringify(push))).toMatchObject(shown)
})

test.each(['', 'null', '[1]', '{'])(
  '[U46] the push %j, which is none of the host, leads nowhere else',
  (text) => {
    expect(noticeOf(text)).toMatchObject({ title: 'Atrium', link: '/#/' })
  },
)
