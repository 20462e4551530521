import { expect, test } from 'vitest'
import { line, until } from '../../test/shells.ts'
import { Emulator } from './emulator.ts'
import type { EmulatorInput } from './emulator.ts'
import { QueryReplies } from './query-replies.ts'

/**
 * A program that sends a query and then a status query. It prints all replies: first those up to the status reply, then
 * any that come later.
 */
const asking = (query: string) =>
  `stty raw -echo; printf '${query}\\033[5n'; IFS= read -r -d n -t 20 said; printf '%sn' "$said" | cat -v; ` +
  `stty min 0 time 3; cat -v`
const bash = { shell: '/bin/bash' }

test('[M7] [S-33] a query of the cursor position gets exactly one reply, and no viewer sees the query', async () => {
  const { text, exited } = await line(asking('one\\r\\ntwo\\033[10;20Hhere\\033[6n'), bash)
  await exited()
  expect(text()).toBe('one\r\ntwo\x1b[10;20Hhere^[[10;24R^[[0n')
})

test.each([
  ['nothing', '', /^$/],
  ['device attributes', '\\033[c', /^\^\[\[\?[\d;]+c$/],
  ['device attributes, old form', '\\033Z', /^\^\[\[\?[\d;]+c$/],
  ['secondary attributes', '\\033[>c', /^\^\[\[>[\d;]+c$/],
  ['a mode', '\\033[?2004h\\033[?2004$p', /^\x1b\[\?2004h\^\[\[\?2004;1\$y$/],
  ['the size', '\\033[18t', /^\^\[\[8;24;80t$/],
  ['two at once', '\\033[6n\\033[6n', /^\^\[\[1;1R\^\[\[1;1R$/],
  ['a colour, which is unknown', '\\033]11;?\\033\\\\', /^$/],
  ['the title, which is not revealed', '\\033]2;evil\\007\\033[21t', /^$/],
  ['the clipboard', '\\033]52;c;?\\007', /^$/],
  ['settings and capabilities', '\\033P$qm\\033\\\\\\033P+q544e\\033\\\\', /^$/],
])('[S-33] [M7] query of %s', async (_, query, answer) => {
  const { text, exited } = await line(asking(query), bash)
  await exited()
  expect(text()).toMatch(/\^\[\[0n$/)
  expect(text().slice(0, -5)).toMatch(answer)
})

test('[S-33] the reply has the current size', async () => {
  const wait = 'stty raw -echo; echo up; head -c 1 >/dev/null; '
  const { shell, text, exited } = await line(wait + asking('\\033[18t\\033[999;999H\\033[6n'), bash)
  await until(() => text().includes('up'))
  shell.resize(100, 30)
  shell.input('x')
  await exited()
  expect(text()).toContain('^[[8;30;100t^[[30;100R')
})

test('[S-33] a program that floods queries does not delay other programs', async () => {
  const flood = await line(`stty raw -echo; while :; do printf '\\033[6n\\033[c\\033[5n'; done`)
  const { text, exited } = await line(asking('abc\\033[6n'), bash)
  await exited()
  expect(text()).toBe('abc^[[1;4R^[[0n')
  await flood.shell.end()
})

/** An emulator that replies on demand. */
class SlowEmulator extends Emulator {
  readonly inputs: EmulatorInput[] = []
  readonly replies: ((reply: string) => void)[] = []
  override emulate(input: EmulatorInput, reply: (reply: string) => void): void {
    this.inputs.push(input)
    this.replies.push(reply)
  }
  override forget(): void {}
}

function replies(limits = { screenLength: 262_144, queries: 64 }) {
  const emulator = new SlowEmulator()
  const answers: string[] = []
  const one = new QueryReplies(emulator, { cols: 80, rows: 24 }, limits, (reply) => answers.push(reply))
  return { emulator, answers, one, updates: () => emulator.inputs.map(({ updates }) => updates) }
}

test('[S-33] [M7] output is emulated only when a query arrives, and each output once', () => {
  const { emulator, one, updates, answers } = replies()
  one.output('a')
  one.output('b')
  expect(emulator.inputs).toEqual([])
  one.query('?')
  expect(updates()).toEqual([['ab?']])
  one.output('c')
  one.query('!')
  expect(updates()).toHaveLength(1)
  emulator.replies[0]?.('yes')
  expect(updates()).toEqual([['ab?'], ['c!']])
  emulator.replies[1]?.('')
  one.query('again')
  expect(answers).toEqual(['yes'])
  expect(updates()[2]).toEqual(['again'])
})

test('[S-33] sizes keep their position between outputs', () => {
  const { emulator, one } = replies()
  one.output('a')
  one.resize(90, 30)
  one.resize(100, 40)
  one.output('b')
  one.query('?')
  expect(emulator.inputs[0]).toMatchObject({
    size: { cols: 80, rows: 24 },
    updates: ['a', { cols: 100, rows: 40 }, 'b?'],
  })
  emulator.replies[0]?.('')
  one.query('?')
  expect(emulator.inputs[1]?.size).toEqual({ cols: 100, rows: 40 })
})

test('[S-33] a size is kept when the output after it is dropped', () => {
  const { emulator, one } = replies({ screenLength: 10, queries: 64 })
  one.resize(90, 30)
  one.output('a'.repeat(10))
  one.query('?')
  expect(emulator.inputs).toMatchObject([{ size: { cols: 90, rows: 30 }, updates: ['?'] }])
})

test('[S-33] a closed terminal gets no replies', () => {
  const { emulator, one, answers } = replies()
  one.query('?')
  one.close()
  emulator.replies[0]?.('late')
  one.query('?')
  expect([answers, emulator.inputs.length]).toEqual([[], 1])
})

test('[S-57 screenLength] at 262,144: all output is kept', () => {
  const { one, updates } = replies()
  one.output('a'.repeat(200_000))
  one.output('b'.repeat(62_143))
  one.query('?')
  expect(updates()[0]?.[0]).toHaveLength(262_144)
})

test('[S-57 screenLength] past 262,144: the oldest output is dropped', () => {
  const { one, updates } = replies()
  one.output('a'.repeat(200_000))
  one.output('b'.repeat(62_144))
  one.query('?')
  expect(updates()[0]).toEqual([`${'b'.repeat(62_144)}?`])
})

test('[S-57 queries] at 64: each query is answered', () => {
  const { one, updates, emulator } = replies()
  one.query('first')
  for (let i = 0; i < 64; i++) one.query('?')
  emulator.replies[0]?.('')
  expect(updates()[1]).toEqual(['?'.repeat(64)])
})

test('[S-57 queries] past 64: further queries are ignored until the others are answered', () => {
  const { one, updates, emulator } = replies()
  one.query('first')
  for (let i = 0; i < 65; i++) one.query('?')
  emulator.replies[0]?.('')
  expect(updates()[1]).toEqual(['?'.repeat(64)])
  emulator.replies[1]?.('')
  one.query('later')
  expect(updates()[2]).toEqual(['later'])
})
