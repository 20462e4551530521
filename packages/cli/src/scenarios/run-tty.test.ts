import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { House } from '../../test/house.ts'

const house = new House()
beforeAll(() => house.open())
afterEach(({ task }) => house.closeWindows(task.result?.state === 'fail'))
afterAll(() => house.close())

const enter = '\r'
const escape = '\u001b'

describe('[Z6] an approval is asked for at the terminal and answered with one key', () => {
  test('y: once, and what it was about stays, while the keys go away', async () => {
    const window = house.window(['run', 'run echo one'])
    const asked = await window.until('[r] no, because')
    expect(asked).toMatch(
      /\? Run `echo one`\n\[y\] once {2}\[s\] this session {2}\[a\] always in this folder/,
    )
    window.press('y')
    expect(await window.ended()).toBe(0)
    expect(window.text).toMatch(/\? Run `echo one`\n· Run `echo one`\n✓ .*\n {2}one\n\[exit 0\]$/)
  })

  test('s: for the session, which is not asked again', async () => {
    const window = house.window(['run', 'run echo two'])
    await window.until('[s]')
    window.press('s')
    expect(await window.ended()).toBe(0)
    const again = house.window(['run', 'run echo three', '--session', 'last'])
    expect(await again.ended()).toBe(0)
    expect(again.text).toContain('  three')
  })

  test('n and r: not done, the turn goes on, and the command says so', async () => {
    const window = house.window(['run', 'write no.txt x'])
    await window.until('[n] no')
    window.press('n')
    expect(await window.ended()).toBe(5)
    expect(window.text).toContain('✗ Write `no.txt` (denied)')
    const why = house.window(['run', 'write no.txt x'])
    await why.until('[r]')
    why.press('r')
    await why.until('because:')
    why.press(`nöt nów${enter}`)
    expect(await why.ended()).toBe(5)
    expect(why.text).toContain('(denied: nöt nów)')
  })

  test('e: with another input; Esc goes back', async () => {
    const window = house.window(['run', 'run echo befoer'])
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

  test('what would be written is shown first', async () => {
    writeFileSync(join(house.work, 'poem.txt'), 'one\ntwo\nthree\nfour\nfive\nsix\n')
    const window = house.window(['run', 'edit poem.txt four => FOUR'])
    const asked = await window.until('[y]')
    expect(asked).toContain(
      'poem.txt (changed)\n  …\n    two\n    three\n  - four\n  + FOUR\n    five\n    six\n',
    )
    window.press('y')
    expect(await window.ended()).toBe(0)
    expect(readFileSync(join(house.work, 'poem.txt'), 'utf8')).toContain('three\nFOUR\nfive')
  })

  test('what was typed before the keys were shown answers nothing', async () => {
    const window = house.window(['run', 'run echo early'])
    window.press('y')
    await window.until('· session')
    window.press('ys')
    await window.until('? Run')
    window.press('s')
    await window.until('[y] once')
    expect(window.text).not.toContain('✓')
    window.press('n')
    expect(await window.ended()).toBe(5)
  })

  test('somebody else answers: the keys go away, and it is said how', async () => {
    const [one, other] = [house.window(['run', 'run echo shared']), house.window(['run', 'say x'])]
    expect(await other.ended()).toBe(0)
    const text = await one.until('[y]')
    const [, name = ''] = /session (\w+)/.exec(text) ?? []
    const second = house.window(['attach', name])
    await second.until('[y]')
    second.press('y')
    expect(await one.ended()).toBe(0)
    expect(one.text).toContain('? Run `echo shared`\n  answered elsewhere: Allow once\n')
    expect(one.text).not.toContain('[y]')
  })
})

describe('[Z6] forms and sign-ins', () => {
  test('a form is answered question by question; what does not fit is said', async () => {
    const window = house.window(['run', 'ask Some things'])
    await window.until('1/6 What shall it be called? *')
    window.press(enter)
    await window.until('This one must be answered.')
    window.press(`Ωmega${enter}`)
    await window.until('2/6 What may it cost?')
    window.press(`-1${enter}`)
    await window.until('It must be from 0.')
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

  test('Esc answers nothing', async () => {
    const window = house.window(['run', 'ask'])
    await window.until('1/6')
    window.press(escape)
    expect(await window.ended()).toBe(0)
    expect(window.text).toContain('You did not want to answer')
  })

  test('a token is typed, and seen by nobody', async () => {
    const window = house.window(['run', 'login'])
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
  test('Ctrl-C cancels the turn, and the command says that it was interrupted', async () => {
    const window = house.window(['run', 'slow 600'])
    await window.until(/working \d+ s/)
    await window.until('atrium')
    window.press('\u0003')
    expect(await window.ended()).toBe(130)
    expect(window.text).toMatch(/· cancelling\n· cancelled\n\[exit 130\]$/)
  })

  test('markdown is shown and not its marks; stdout in a file has it as it was said', async () => {
    const window = house.window(['run', 'say # Title\n- **one** `two`'])
    expect(await window.ended()).toBe(0)
    expect(window.text).toMatch(/Title\n• one two\n\[exit 0\]$/)
    const file = house.window(['run', 'say # Title'], { line: '> out.md' })
    expect(await file.ended()).toBe(0)
    expect(readFileSync(join(house.work, 'out.md'), 'utf8')).toBe('# Title\n')
  })

  test('NO_COLOR has no colours, and a dumb terminal nothing but text: there a line is the answer', async () => {
    const plain = house.window(['run', 'plan'], { env: { NO_COLOR: '1' } })
    expect(await plain.ended()).toBe(0)
    // oxlint-disable-next-line no-control-regex
    expect(plain.raw).not.toMatch(/\u001b\[\d+m/)
    const dumb = house.window(['run', 'run echo dumb'], { env: { TERM: 'dumb' } })
    await dumb.until('[r] no, because')
    dumb.press(`y${enter}`)
    expect(await dumb.ended()).toBe(0)
    expect(dumb.raw).not.toContain('\u001b')
    expect(dumb.text).toContain('  dumb')
  })
})
