import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CliFixture } from '../../test/fixture.ts'
import type { Window } from '../../../adapters/test/terminal-window.ts'

const fixture = new CliFixture()
beforeAll(() => fixture.open())
afterEach(({ task }) => fixture.closeWindows(task.result?.state === 'fail'))
afterAll(() => fixture.close())

const enter = '\r'
const [ctrlC, ctrlD] = ['\u0003', '\u0004']

/** Attaches a window to a new, idle session. */
async function attachIdle(given: Parameters<CliFixture['window']>[1] = {}): Promise<Window> {
  await fixture.run(['run', 'say hello there'])
  const window = fixture.window(['attach'], given)
  await window.until(/hello there\n(.*\n)*idle/)
  return window
}

/** Starts a turn in a window. The turn ends when the returned function is called, and not before. */
async function beginTurn(window: Window, name: string): Promise<() => void> {
  window.press(`!until [ -e ${name} ]; do sleep 0.1; done${enter}`)
  await window.until(/working \d+ s/)
  return () => writeFileSync(join(fixture.work, name), '')
}

describe('[Z8] attach', () => {
  test('[Z8.1] [Z8.7] shows the earlier turns; a line starts a turn, and Ctrl-D leaves', async () => {
    // The window is wide enough for the path of any temporary folder.
    const window = await attachIdle({ cols: 250 })
    expect(window.text).toMatch(/^\w{8} · guide in .*work · say hello there\n/)
    window.press(`say 漢字 wörld 😀${enter}`)
    await window.until('› say 漢字 wörld 😀\n漢字 wörld 😀\n')
    window.press(ctrlD)
    expect(await window.ended()).toBe(0)
    expect(window.text).toMatch(/漢字 wörld 😀\n\[exit 0\]$/)
  })

  test('[Z8.1] [Z8.2] [Z8.7] lines steer the active turn; Alt-Enter and /queue queue a message', async () => {
    const window = await attachIdle()
    const endTurn = await beginTurn(window, 'steered')
    window.press(`say first\u001b${enter}`)
    await window.until('· waits: say first')
    window.press(`/queue say second${enter}`)
    await window.until('· waits: say second')
    window.press(`say steered${enter}`)
    await window.until('· after this turn: say steered')
    window.press(`twice${enter}`)
    await window.until('· after this turn: say steered twice')
    endTurn()
    await window.until(/steered\n\ntwice\n(.*\n)*first\n(.*\n)*second\n/)
    window.press(`/quit${enter}`)
    expect(await window.ended()).toBe(0)
  })

  test('[Z8.2] [Z8.3] after a steering message, Ctrl-C cancels the turn and begins no other; /next begins one with it', async () => {
    const window = await attachIdle()
    window.press(`slow 30${enter}`)
    await window.until('atrium and')
    window.press(`say steered${enter}${ctrlC}`)
    await window.until('· cancelled')
    await window.until('1 queued, held: /next starts them')
    expect(window.text).toContain('queued messages wait; /next starts them')
    window.press(`/next${enter}`)
    await window.until(/^steered\n/m)
  })

  test('[Z8.7] /help lists the keys and the commands', async () => {
    const window = await attachIdle({ rows: 40 })
    window.press(`/help${enter}`)
    await window.until(/Alt-Enter +queue(.*\n)*.*\/next(.*\n)*.*\/help, \/quit(.*\n)*.*idle/)
  })

  test('[Z8.4] two windows see the same turn grow, and each other', async () => {
    const one = await attachIdle()
    const two = fixture.window(['attach'])
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

  test('[Z8.3] Ctrl-C clears the line, then cancels, then leaves', async () => {
    const window = await attachIdle()
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

  test('[Z8.2] /resume continues a failed turn', async () => {
    const window = await attachIdle()
    window.press(`fail${enter}`)
    await window.until('/resume lets it go on')
    window.press(`/resume${enter}`)
    await window.until('I was resumed, and so this turn ends well.')
  })

  test('[Z8.2] after a cancelled turn the queue is held, the status row says so, and /next starts it', async () => {
    const window = await attachIdle()
    window.press(`slow 3600${enter}`)
    await window.until(/working \d+ s/)
    window.press(`/queue say held back${enter}`)
    await window.until('1 queued')
    window.press(`/cancel${enter}`)
    await window.until('queued messages wait; /next starts them')
    await window.until('1 queued, held')
    window.press(`/next${enter}`)
    await window.until(/^held back/m)
    window.press(`/next${enter}`)
    await window.until('no message is queued')
  })

  test('[Z8.5] typed text answers nothing: a prompt waits for the end of the line, and Tab hides it', async () => {
    const window = await attachIdle()
    const endTurn = await beginTurn(window, 'asked')
    window.press(`\u001b[200~run echo asked\u001b[201~${enter}`)
    await window.until('after this turn')
    window.press('say no')
    await window.until('› say no')
    endTurn()
    await window.until('a question waits for the end of your line')
    await window.until('› say no')
    window.press(`w${enter}`)
    await window.until('· after this turn: say now')
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

  test('[Z9.3] a long line in a small window takes one row, and is sent whole', async () => {
    const window = await attachIdle({ cols: 30, rows: 8 })
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

  test('[Z9.4] a dumb terminal reads and prints whole lines', async () => {
    await fixture.run(['run', 'say hello there'])
    const window = fixture.window(['attach'], { env: { TERM: 'dumb' } })
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

test('[Z10] [Z10.1] [Z10.3] attach notes a crash and a restart of the host, and resumes the turn that it started', async () => {
  const window = await attachIdle()
  // One word each second: the host is killed long before the end of the turn.
  window.press(`slow 12${enter}`)
  await window.until('atrium and')
  await fixture.kill()
  await window.until('the host is away; trying again')
  await fixture.open()
  await window.until('· the host is back')
  await window.until('· the turn goes on')
  await window.until(/idle/)
  window.press(`say again${enter}`)
  await window.until(/\nagain$/m)
})
