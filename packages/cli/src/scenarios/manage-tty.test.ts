import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CliFixture } from '../../test/fixture.ts'
import { HostProcess } from '../../test/host-process.ts'
import type { Window } from '../../../adapters/test/terminal-window.ts'

const fixture = new CliFixture()
beforeAll(() => fixture.open())
afterEach(({ task }) => fixture.closeWindows(task.result?.state === 'fail'))
afterAll(() => fixture.close())

const enter = '\r'
const escape = '\u001b'
const [ctrlD, ctrlBracket] = ['\u0004', '\u001d']

/** Waits until the rows of the window match. Old frames are no part of them. */
function shows(window: Window, wanted: RegExp): Promise<string> {
  return window.until(() => wanted.test(window.screen.replaceAll(/ +$/gm, '')))
}

describe('[Z12] the session manager', () => {
  test('[Z12] [Z12.1] [Z12.2] [Z12.3] alone at a terminal, it lists sessions, answers a question, and shows the changes', async () => {
    await fixture.run(['run', 'say an older one'])
    // The request stays open: nobody is at a terminal.
    await fixture.run(['run', 'write made.txt by hand'])
    const window = fixture.window([], { cols: 100, rows: 30 })
    const first = await shows(window, /1 needs you.*\n› ● asks .*write made.txt by hand/).then(
      () => window.screen,
    )
    expect(first).toMatch(/· idle .*say an older one/)
    await shows(window, /\[y\] once/)
    window.press('y')
    await shows(window, /nothing waits for you/)
    await shows(window, /Wrote `made.txt`/)
    window.press('d')
    await shows(window, /Changes of write made.txt[^]*\+ by hand/)
    window.press('q')
    await shows(window, /› · idle .*write made.txt/)
    window.press('u')
    await shows(window, /Undo the last turn .* y yes/)
    window.press('y')
    await shows(window, /\n1 file was set back\./)
    window.press('q')
    expect(await window.ended()).toBe(0)
    // The screen of the shell is back, without the list.
    await window.until(() => window.screen.includes('[exit 0]') && !window.screen.includes('Atrium ·'))
  })

  test('[Z12.3] n begins a session and opens it, Ctrl-D comes back; c cancels, R renames, x archives, t opens a terminal', async () => {
    const window = fixture.window(['manage'], { cols: 100, rows: 30 })
    await shows(window, /Atrium ·/)
    window.press('n')
    await shows(window, /New: .*\(Tab\)/)
    window.press(`slow 200${enter}`)
    await window.until(/working \d+ s/)
    window.press(ctrlD)
    await shows(window, /› ◐ works .*slow 200/)
    window.press('c')
    await shows(window, /› · idle .*slow 200/)
    window.press('R')
    await shows(window, /Title: slow 200/)
    window.press(`\u0015a better name${enter}`)
    await shows(window, /› · idle .*a better name/)
    window.press('t')
    await window.until('Ctrl-] comes back to the list')
    window.press(`echo $((40 + 2))-typed${enter}`)
    await window.until('42-typed')
    window.press(ctrlBracket)
    await shows(window, /› · idle .*a better name/)
    window.press('x')
    await shows(window, /Archived; A shows/)
    await window.until(() => !/· idle .*a better name/.test(window.screen))
    window.press('A')
    await shows(window, /· idle .*a better name/)
    window.press('A?')
    await shows(window, /The keys\n.*choose a session/)
    window.press(`q${ctrlD}`)
    expect(await window.ended()).toBe(0)
  })

  test('[Z12.4] [Z12.6] / shows only what matches, in a window of 60 columns and after a resize', async () => {
    await fixture.run(['run', 'say needle in a haystack'])
    const window = fixture.window(['manage'], { cols: 60, rows: 20 })
    await shows(window, /· idle .*needle/)
    window.press('/needle hay')
    await shows(window, /1 of \d+ sessions ·.*\n› · idle .*say needle[^]*\/ needle hay$/)
    window.press(`${enter}${escape}`)
    await shows(window, /Atrium · [^\n]*(\d+) of \1 sessions/)
    window.resize(40, 12)
    await shows(window, /^Atrium ·.*\n›/)
    window.press('q')
    expect(await window.ended()).toBe(0)
  })

  test('[Z12] [Z12.7] sessions of two hosts are in one list; a host that is killed is named until it is back', async () => {
    const home = mkdtempSync(join(tmpdir(), 'atrium-other-'))
    const other = await HostProcess.start(home)
    try {
      const at = ['--host', other.url, '--token-file', join(home, 'data', 'token')]
      const added = await fixture.run(['devices', 'add', 'this machine', '--role', 'own', '--json', ...at])
      const [, code = ''] = /"code":"([^"]+)"/.exec(added.stdout) ?? []
      expect(await fixture.run(['pair', other.url, code])).toMatchObject({ status: 0 })
      await fixture.run(['run', 'say on this machine'])
      await fixture.run(['run', 'say on another machine', '--host', other.url])
      const name = new URL(other.url).host
      const window = fixture.window(['manage', '--also', other.url], { cols: 120 })
      await shows(window, new RegExp(`say on another machine .*${name}`))
      await shows(window, /say on this machine/)
      await other.kill()
      await shows(window, new RegExp(`${name} is away; trying again`))
      expect(window.screen).toContain('say on another machine')
      window.press('q')
      expect(await window.ended()).toBe(0)
    } finally {
      await other.kill()
      rmSync(home, { recursive: true, force: true })
    }
  })

  test('[Z12.8] a signal ends it and leaves the terminal as it was', async () => {
    const line = '</dev/tty & p=$!; until [ -e go ]; do sleep 0.1; done; kill $p; wait $p; (exit $?)'
    const window = fixture.window(['manage'], { line })
    await shows(window, /Atrium ·/)
    writeFileSync(join(fixture.work, 'go'), '')
    expect(await window.ended()).toBe(143)
    expect(window.screen).not.toContain('Atrium ·')
    expect(window.raw.lastIndexOf('\u001b[?1049l')).toBeGreaterThan(window.raw.lastIndexOf('\u001b[?1049h'))
  })

  test('[Z12] without a terminal it says how to list sessions', async () => {
    expect(await fixture.run(['manage'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('list the sessions with: atrium ls'),
    })
  })
})
