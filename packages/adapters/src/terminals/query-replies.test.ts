import { expect, test } from 'vitest'
import { line, until } from '../../test/shells.ts'
import { Emulator } from './emulator.ts'
import type { Fed } from './emulator.ts'
import { Screen } from './query-replies.ts'

/** A program that asks, and for its status in the end, and shows what it was answered until then, and whatever comes later. */
const asking = (query: string) =>
  `stty raw -echo; printf '${query}\\033[5n'; IFS= read -r -d n -t 20 said; printf '%sn' "$said" | cat -v; ` +
  `stty min 0 time 3; cat -v`
const bash = { shell: '/bin/bash' }

test('[M7] [S-33] a program that asks where the cursor is gets one answer, the right one, and no viewer is asked', async () => {
  const { text, exited } = await line(asking('one\\r\\ntwo\\033[10;20Hhere\\033[6n'), bash)
  await exited()
  expect(text()).toBe('one\r\ntwo\x1b[10;20Hhere^[[10;24R^[[0n')
})

test.each([
  ['nothing', '', /^$/],
  ['device attributes', '\\033[c', /^\^\[\[\?[\d;]+c$/],
  ['device attributes, as of old', '\\033Z', /^\^\[\[\?[\d;]+c$/],
  ['secondary attributes', '\\033[>c', /^\^\[\[>[\d;]+c$/],
  ['a mode', '\\033[?2004h\\033[?2004$p', /^\x1b\[\?2004h\^\[\[\?2004;1\$y$/],
  ['the size', '\\033[18t', /^\^\[\[8;24;80t$/],
  ['two at once', '\\033[6n\\033[6n', /^\^\[\[1;1R\^\[\[1;1R$/],
  ['a colour, which nobody knows', '\\033]11;?\\033\\\\', /^$/],
  ['the title, which nobody is told', '\\033]2;evil\\007\\033[21t', /^$/],
  ['the clipboard', '\\033]52;c;?\\007', /^$/],
  ['settings and capabilities', '\\033P$qm\\033\\\\\\033P+q544e\\033\\\\', /^$/],
])('[S-33] asked for %s', async (_, query, answer) => {
  const { text, exited } = await line(asking(query), bash)
  await exited()
  expect(text()).toMatch(/\^\[\[0n$/)
  expect(text().slice(0, -5)).toMatch(answer)
})

test('[S-33] it knows the size of now', async () => {
  const wait = 'stty raw -echo; echo up; head -c 1 >/dev/null; '
  const { shell, text, exited } = await line(wait + asking('\\033[18t\\033[999;999H\\033[6n'), bash)
  await until(() => text().includes('up'))
  shell.resize(100, 30)
  shell.input('x')
  await exited()
  expect(text()).toContain('^[[8;30;100t^[[30;100R')
})

test('[S-33] a program that only asks is answered as it reads, and others go on', async () => {
  const flood = await line(`stty raw -echo; while :; do printf '\\033[6n\\033[c\\033[5n'; done`)
  const { text, exited } = await line(asking('abc\\033[6n'), bash)
  await exited()
  expect(text()).toBe('abc^[[1;4R^[[0n')
  await flood.shell.end()
})

/** An emulator that answers when it is told to. */
class Slow extends Emulator {
  readonly fed: Fed[] = []
  readonly replies: ((reply: string) => void)[] = []
  override feed(fed: Fed, reply: (reply: string) => void): void {
    this.fed.push(fed)
    this.replies.push(reply)
  }
  override forget(): void {}
}

function screen(bounds = { screenLength: 262_144, queries: 64 }) {
  const emulator = new Slow()
  const answers: string[] = []
  const one = new Screen(emulator, { cols: 80, rows: 24 }, bounds, (reply) => answers.push(reply))
  return { emulator, answers, one, items: () => emulator.fed.map(({ items }) => items) }
}

test('[S-33] nothing is emulated until something is asked, and then what was not yet', () => {
  const { emulator, one, items, answers } = screen()
  one.show('a')
  one.show('b')
  expect(emulator.fed).toEqual([])
  one.ask('?')
  expect(items()).toEqual([['ab?']])
  one.show('c')
  one.ask('!')
  expect(items()).toHaveLength(1)
  emulator.replies[0]?.('yes')
  expect(items()).toEqual([['ab?'], ['c!']])
  emulator.replies[1]?.('')
  one.ask('again')
  expect(answers).toEqual(['yes'])
  expect(items()[2]).toEqual(['again'])
})

test('[S-33] sizes are told in their place', () => {
  const { emulator, one } = screen()
  one.show('a')
  one.resize(90, 30)
  one.resize(100, 40)
  one.show('b')
  one.ask('?')
  expect(emulator.fed[0]).toMatchObject({
    size: { cols: 80, rows: 24 },
    items: ['a', { cols: 100, rows: 40 }, 'b?'],
  })
  emulator.replies[0]?.('')
  one.ask('?')
  expect(emulator.fed[1]?.size).toEqual({ cols: 100, rows: 40 })
})

test('[S-33] a size is known, though what was shown in it is forgotten', () => {
  const { emulator, one } = screen({ screenLength: 10, queries: 64 })
  one.resize(90, 30)
  one.show('a'.repeat(10))
  one.ask('?')
  expect(emulator.fed).toMatchObject([{ size: { cols: 90, rows: 30 }, items: ['?'] }])
})

test('[S-33] who has ended is answered no more', () => {
  const { emulator, one, answers } = screen()
  one.ask('?')
  one.end()
  emulator.replies[0]?.('late')
  one.ask('?')
  expect([answers, emulator.fed.length]).toEqual([[], 1])
})

test('[S-57 screenLength] at 262,144: all is kept', () => {
  const { one, items } = screen()
  one.show('a'.repeat(200_000))
  one.show('b'.repeat(62_143))
  one.ask('?')
  expect(items()[0]?.[0]).toHaveLength(262_144)
})

test('[S-57 screenLength] past 262,144: the oldest is forgotten', () => {
  const { one, items } = screen()
  one.show('a'.repeat(200_000))
  one.show('b'.repeat(62_144))
  one.ask('?')
  expect(items()[0]).toEqual([`${'b'.repeat(62_144)}?`])
})

test('[S-57 queries] at 64: each is answered', () => {
  const { one, items, emulator } = screen()
  one.ask('first')
  for (let i = 0; i < 64; i++) one.ask('?')
  emulator.replies[0]?.('')
  expect(items()[1]).toEqual(['?'.repeat(64)])
})

test('[S-57 queries] past 64: the others are not, and those after them are', () => {
  const { one, items, emulator } = screen()
  one.ask('first')
  for (let i = 0; i < 65; i++) one.ask('?')
  emulator.replies[0]?.('')
  expect(items()[1]).toEqual(['?'.repeat(64)])
  emulator.replies[1]?.('')
  one.ask('later')
  expect(items()[2]).toEqual(['later'])
})
