import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Window } from '../../../adapters/test/terminal-window.ts'
import { CliFixture } from '../../test/fixture.ts'

const fixture = new CliFixture()
beforeAll(() => fixture.open())
afterEach(({ task }) => fixture.closeWindows(task.result?.state === 'fail'))
afterAll(() => fixture.close())

const enter = '\r'
const escape = '\u001b'

describe('[Z6] a tool call is approved or denied at the terminal with one key', () => {
  test('y approves once; the question stays on the screen, and the keys disappear', async () => {
    const window = fixture.window(['run', 'run echo one'])
    const asked = await window.until('[r] no, because')
    expect(asked).toMatch(
      /\? Run `echo one`\n\[y\] once {2}\[s\] this session {2}\[a\] always in this folder/,
    )
    window.press('y')
    expect(await window.ended()).toBe(0)
    expect(window.text).toMatch(
      /\? Run `echo one`\n· Run `echo one`\n {2}allowed by atrium-cli \(owner\)\n✓ .*\n {2}one\n\[exit 0\]$/,
    )
  })

  test('s approves for the session, and the next call does not ask', async () => {
    const window = fixture.window(['run', 'run echo two'])
    await window.until('[s]')
    window.press('s')
    expect(await window.ended()).toBe(0)
    const again = fixture.window(['run', 'run echo three', '--session', 'last'])
    expect(await again.ended()).toBe(0)
    expect(again.text).toContain('  three')
  })

  test('[Z5.3] n and r deny; the turn continues, and the command exits with 5', async () => {
    const window = fixture.window(['run', 'write no.txt x'])
    await window.until('[n] no')
    window.press('n')
    expect(await window.ended()).toBe(5)
    expect(window.text).toContain('✗ Write `no.txt` (denied)')
    const why = fixture.window(['run', 'write no.txt x'])
    await why.until('[r]')
    why.press('r')
    await why.until('because:')
    why.press(`nöt nów${enter}`)
    expect(await why.ended()).toBe(5)
    expect(why.text).toContain('(denied: nöt nów)')
  })

  test('e edits the input; Esc goes back', async () => {
    const window = fixture.window(['run', 'run echo befoer'])
    await window.until('[e] edit')
    window.press('e')
    await window.until('input: echo befoer')
    window.press(escape)
    await window.until('[e] edit')
    window.press('e')
    await window.until('input: echo befoer')
    window.press(`\u007f\u007fre it${enter}`)
    expect(await window.ended()).toBe(0)
    expect(window.text).toContain('  before it')
  })

  test('a diff of the edited file is shown first', async () => {
    writeFileSync(join(fixture.work, 'poem.txt'), 'one\ntwo\nthree\nfour\nfive\nsix\n')
    const window = fixture.window(['run', 'edit poem.txt four => FOUR'])
    const asked = await window.until('[y]')
    expect(asked).toContain(
      'poem.txt (changed)\n  …\n    two\n    three\n  - four\n  + FOUR\n    five\n    six\n',
    )
    window.press('y')
    expect(await window.ended()).toBe(0)
    expect(readFileSync(join(fixture.work, 'poem.txt'), 'utf8')).toContain('three\nFOUR\nfive')
  })

  test('[Z6.3] keys that are pressed before the prompt is shown answer nothing', async () => {
    const window = fixture.window(['run', 'run echo early'])
    // The command starts only now, so it reads these keys as the first thing after its prompt has appeared.
    window.press('yysys')
    await window.until('[y] once')
    expect(window.text).not.toContain('✓')
    window.press('n')
    expect(await window.ended()).toBe(5)
  })

  test('[Z6.4] an answer of another client removes the keys, and is shown', async () => {
    const [one, other] = [fixture.window(['run', 'run echo shared']), fixture.window(['run', 'say x'])]
    expect(await other.ended()).toBe(0)
    const text = await one.until('[y]')
    const [, name = ''] = /session (\w+)/.exec(text) ?? []
    const second = fixture.window(['attach', name])
    await second.until('[y]')
    second.press('y')
    expect(await one.ended()).toBe(0)
    expect(one.text).toContain(
      '? Run `echo shared`\n  answered elsewhere: Allow once, by atrium-cli (owner)\n',
    )
    expect(one.text).not.toContain('[y]')
  })
})

test.each([
  ['y', 0, '✓ Found 3 words', 'You approved the result, so I use it: atrium and here'],
  ['n', 5, '✗ Find words `3 words` (result-denied)', 'You did not approve the result, so I do not use it.'],
])('[Z6.6] %s decides about the result of a call, which is shown first', async (key, exit, note, text) => {
  const window = fixture.window(['run', 'review 3'])
  const asked = await window.until('[n] no')
  expect(asked).toContain('? Use the result: Found 3 words\n  atrium and here\n[y] yes  [n] no')
  window.press(key)
  expect(await window.ended()).toBe(exit)
  expect(window.text).toContain(note)
  expect(window.text).toContain(`\n${text}`)
})

describe('[Z6.8] all of a call is on the screen before it can be approved for good', () => {
  const lines = Array.from({ length: 61 }, (_, at) => (at === 40 ? 'touch hidden' : `# ${at + 1}`))

  /** Presses v until all was shown. Returns what stood on the screen each time that keys were offered. */
  async function paged(window: Window): Promise<readonly string[]> {
    const screens = [window.screen]
    for (let left = await leftOn(window, 999); left > 0; left = await leftOn(window, left)) {
      window.press('v')
      await leftOn(window, left)
      screens.push(window.screen)
    }
    return screens
  }

  /** Resolves with the number of lines that [v] offers, as soon as it is less than before. */
  async function leftOn(window: Window, before: number): Promise<number> {
    let left = before
    await window.until((text) => {
      left = Number(/\[v\] show (\d+) more/.exec(text)?.[1] ?? (text.includes('[a] always') ? 0 : before))
      return left < before
    })
    return left
  }

  test('a command of 61 lines, in a window of 24 rows', async () => {
    const window = fixture.window(['run', `run ${lines.join('\n')}`])
    const asked = await window.until('[r] no, because')
    expect(asked).not.toContain('always in this folder')
    window.press('y')
    await window.until(/\d+ lines were never on the screen\. y once more approves all of it, unseen\.\n\[v\]/)
    const screens = await paged(window)
    for (const line of lines) expect(screens.some((screen) => screen.includes(`  ${line}\n`))).toBe(true)
    await window.until('[a] always in this folder')
    window.press('y')
    expect(await window.ended()).toBe(0)
  })

  test('a file of 61 lines, in attach', async () => {
    const run = await fixture.run(['run', `write long.txt ${lines.join('\n')}`])
    const [, name = ''] = /session (\w+)/.exec(run.stderr) ?? []
    const window = fixture.window(['attach', name])
    await window.until('[v] show')
    const screens = await paged(window)
    for (const line of lines) expect(screens.some((screen) => screen.includes(`+ ${line}\n`))).toBe(true)
    window.press('n')
    await window.until('(denied')
  })
})

describe('[Z6] forms and sign-ins', () => {
  test('[Z6.2] a form is answered question by question, and an invalid answer is explained', async () => {
    const window = fixture.window(['run', 'ask Some things'])
    await window.until('1/6 What shall it be called? *')
    window.press(enter)
    await window.until('This one must be answered.')
    window.press(`Ωmega${enter}`)
    await window.until('2/6 What may it cost?')
    window.press(`-1${enter}`)
    await window.until('It must be at least 0.')
    window.press(`\u00152,5${enter}`)
    await window.until('3/6 How many?')
    window.press(enter)
    await window.until('4/6 Is it a gift?')
    window.press(`y${enter}`)
    await window.until('5/6 Which size?')
    window.press(`2${enter}`)
    await window.until('6/6 Anything with it?')
    window.press(`1, a ribbon${enter}`)
    expect(await window.ended()).toBe(0)
    for (const line of [
      '? Some things',
      '• What shall it be called? Ωmega',
      '• What may it cost? 2.5',
      '• How many? 1',
      '• Is it a gift? Yes',
      '• Which size? medium',
      '• Anything with it? box, a ribbon',
    ])
      expect(window.text).toContain(line)
  })

  test('Esc declines a form', async () => {
    const window = fixture.window(['run', 'ask'])
    await window.until('1/6')
    window.press(escape)
    expect(await window.ended()).toBe(0)
    expect(window.text).toContain('You did not want to answer')
  })

  test('[Z6.2] a typed token is never shown', async () => {
    const window = fixture.window(['run', 'login'])
    await window.until('token:')
    window.press('geheim-42')
    await window.until('token: •••••••••')
    window.press(enter)
    expect(await window.ended()).toBe(0)
    expect(window.text).toContain('✓ Signed in to Atrium Guide')
    expect(window.raw).not.toContain('geheim')
  })
})

describe('[Z5] run at a terminal', () => {
  test('[Z5.3] [Z5.4] Ctrl-C cancels the turn, and the command exits with 130', async () => {
    const window = fixture.window(['run', 'slow 600'])
    await window.until(/working \d+ s/)
    await window.until('atrium')
    window.press('\u0003')
    expect(await window.ended()).toBe(130)
    expect(window.text).toMatch(/· cancelling\n· cancelled\n\[exit 130\]$/)
  })

  test('[Z5.4] a second Ctrl-C ends the command, also if the host does not answer the first', async () => {
    const window = fixture.window(['run', 'slow 600'])
    await window.until(/working \d+ s/)
    process.kill(fixture.host.pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(fixture.host.pid, 'SIGCONT'))
    window.press('\u0003')
    await window.until('· cancelling')
    window.press('\u0003')
    expect(await window.ended()).toBe(130)
  })

  test('Markdown is rendered on a terminal, and unchanged in a file', async () => {
    const window = fixture.window(['run', 'say # Title\n- **one** `two`'])
    expect(await window.ended()).toBe(0)
    expect(window.text).toMatch(/Title\n• one two\n\[exit 0\]$/)
    const file = fixture.window(['run', 'say # Title'], { line: '> out.md' })
    expect(await file.ended()).toBe(0)
    expect(readFileSync(join(fixture.work, 'out.md'), 'utf8')).toBe('# Title\n')
  })

  test('[Z2.3] [Z9.4] NO_COLOR switches colours off; a dumb terminal gets plain text, and answers with a line', async () => {
    const plain = fixture.window(['run', 'plan'], { env: { NO_COLOR: '1' } })
    expect(await plain.ended()).toBe(0)
    // oxlint-disable-next-line no-control-regex
    expect(plain.raw).not.toMatch(/\u001b\[\d+m/)
    const dumb = fixture.window(['run', 'run echo dumb'], { env: { TERM: 'dumb' } })
    await dumb.until('[r] no, because')
    dumb.press(`y${enter}`)
    expect(await dumb.ended()).toBe(0)
    expect(dumb.raw).not.toContain('\u001b')
    expect(dumb.text).toContain('  dumb')
  })
})
