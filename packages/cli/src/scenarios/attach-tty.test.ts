import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { House } from '../../test/house.ts'
import type { Window } from '../../../adapters/test/window.ts'

const house = new House()
beforeAll(() => house.open())
afterEach(({ task }) => house.closeWindows(task.result?.state === 'fail'))
afterAll(() => house.close())

const enter = '\r'
const [ctrlC, ctrlD] = ['\u0003', '\u0004']

/** A window on a new session that is at rest. */
async function idle(given: Parameters<House['window']>[1] = {}): Promise<Window> {
  await house.run(['run', 'say hello there'])
  const window = house.window(['attach'], given)
  await window.until(/hello there\n(.*\n)*idle/)
  return window
}

describe('[Z8] attach', () => {
  test('what was said is shown, a line begins a turn, and Ctrl-D leaves', async () => {
    // Wide enough for any temporary folder.
    const window = await idle({ cols: 250 })
    expect(window.text).toMatch(/^\w{8} · guide in .*work · say hello there\n/)
    window.press(`say 漢字 wörld 😀${enter}`)
    await window.until('› say 漢字 wörld 😀\n漢字 wörld 😀\n')
    window.press(ctrlD)
    expect(await window.ended()).toBe(0)
    expect(window.text).toMatch(/漢字 wörld 😀\n\[exit 0\]$/)
  })

  test('a line steers the turn that goes on, two are both heard; Alt-Enter and /queue come behind', async () => {
    const window = await idle()
    window.press(`slow 4${enter}`)
    await window.until(/working \d+ s/)
    window.press(`say first\u001b${enter}`)
    await window.until('· waits: say first')
    window.press(`/queue say second${enter}`)
    await window.until('· waits: say second')
    window.press(`say steered${enter}`)
    await window.until('· will steer the turn: say steered')
    window.press(`twice${enter}`)
    await window.until('· will steer the turn: say steered twice')
    await window.until(/steered\n\ntwice\n(.*\n)*first\n(.*\n)*second\n/)
    window.press(`/quit${enter}`)
    expect(await window.ended()).toBe(0)
  })

  test('two windows see the same turn grow, and each other', async () => {
    const one = await idle()
    const two = house.window(['attach'])
    await one.until(/idle · also here: .*\(atrium attach\)/)
    await two.until(/idle · also here: .*\(atrium attach\)/)
    one.press(`slow 30${enter}`)
    await Promise.all([one.until('atrium and'), two.until('atrium and')])
    two.press(ctrlC)
    await Promise.all([one.until('· cancelled'), two.until('· cancelled')])
    two.press(ctrlD)
    expect(await two.ended()).toBe(0)
    await one.until('· nobody else is here')
  })

  test('Ctrl-C takes back the line, then cancels, then leaves', async () => {
    const window = await idle()
    window.press(`slow 60${enter}`)
    await window.until(/working \d+ s/)
    window.press('half a line')
    await window.until('› half a line')
    window.press(ctrlC)
    await window.until((text) => !text.includes('half a line'))
    window.press(ctrlC)
    await window.until('· cancelled')
    await window.until(/idle/)
    window.press(ctrlC)
    await window.until('once more leaves')
    window.press(ctrlC)
    expect(await window.ended()).toBe(130)
  })

  test('a turn that failed goes on by /resume', async () => {
    const window = await idle()
    window.press(`fail${enter}`)
    await window.until('/resume lets it go on')
    window.press(`/resume${enter}`)
    await window.until('I was resumed, and so this turn ends well.')
  })

  test('what is typed is no answer: a question waits for the end of the line, and for Tab', async () => {
    const window = await idle()
    window.press(`slow 2${enter}`)
    await window.until(/working \d+ s/)
    window.press(`\u001b[200~run echo asked\u001b[201~${enter}`)
    await window.until('will steer')
    window.press('say no')
    await window.until('a question waits for the end of your line')
    await window.until('› say no')
    window.press(`w${enter}`)
    await window.until('· will steer the turn: say now')
    await window.until('[y] once')
    window.press('\t')
    await window.until((text) => !text.includes('[y]'))
    window.press('y')
    await window.until('› y')
    window.press('\u007f')
    await window.until('[y] once')
    window.press('y')
    await window.until(/ {2}asked\n(.*\n)*now\n/)
  })

  test('a long line and a small window: the row is always one, and what was said is whole', async () => {
    const window = await idle({ cols: 30, rows: 8 })
    window.press(`say ${'漢字 ab '.repeat(12)}all`)
    await window.until(/› .*漢字 ab all$/)
    window.resize(24, 8)
    window.press('end')
    await window.until(/ab allend$/)
    window.resize(50, 12)
    window.press(enter)
    const text = await window.until(/allend\n(.*\n)*allend\nidle\n›$/)
    expect(text).toContain('hello there')
    expect(text.replaceAll(/\s+/g, '')).toContain(`${'漢字ab'.repeat(12)}allendidle›`)
  })

  test('a dumb terminal: lines in, lines out', async () => {
    await house.run(['run', 'say hello there'])
    const window = house.window(['attach'], { env: { TERM: 'dumb' } })
    await window.until('hello there')
    window.press(`say dumb${enter}`)
    await window.until(/\ndumb$/m)
    window.press(`run echo asked${enter}`)
    await window.until('[y] once')
    window.press(`y${enter}`)
    await window.until('  asked')
    window.press(`/quit${enter}`)
    expect(await window.ended()).toBe(0)
    expect(window.raw).not.toContain('\u001b')
  })
})

test('[Z10] the host dies and comes back: attach says so, and goes on with what was begun there', async () => {
  const window = await idle()
  window.press(`slow 5${enter}`)
  await window.until('atrium and')
  await house.kill()
  await window.until('the host is away; trying again')
  await house.open()
  await window.until('· the host is back')
  await window.until('· the turn goes on')
  await window.until(/idle/)
  window.press(`say again${enter}`)
  await window.until(/\nagain$/m)
})
