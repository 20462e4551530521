import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { newFolder } from '../../test/store-folder.ts'
import { openPrompt } from '../../test/shell-prompt.ts'
import { line, until } from '../../test/shells.ts'

const lengths = (said: readonly { readonly type: string; readonly data?: string }[]) =>
  said.flatMap((one) => (one.data === undefined ? [] : [one.data.length]))

/**
 * Runs another terminal that writes a megabyte and ends. If a terminal under test did something wrong, it would do so in
 * this time.
 */
const meanwhile = async () => (await line('yes | head -c 1000000')).exited()

describe('[F-40] floods', () => {
  test('[M1.1] 16 MB arrive complete and in order', async () => {
    const began = performance.now()
    const { text, exited, said } = await line('seq 1 2100000')
    await exited()
    const ms = performance.now() - began
    const lines = text().split('\r\n')
    expect(text().length).toBeGreaterThan(16e6)
    expect([lines.length, lines.at(-2), lines.at(-1)]).toEqual([2_100_001, '2100000', ''])
    expect(lines.findIndex((each, i) => each !== String(i + 1))).toBe(2_100_000)
    // Each action costs every client that watches, so there must be few: one in 4 ms, and those that are full. A
    // program that gets little time on a busy machine writes for longer, and so has more of them.
    expect(said.length).toBeLessThan(ms / 3 + (2 * text().length) / limits.terminalData)
  })

  test('a paused program has to wait', async () => {
    const { shell, text, said } = await line('yes')
    await until(() => text().length > 1e5)
    shell.pause()
    const before = text().length
    const memory = process.memoryUsage().rss
    await meanwhile()
    expect(text().length).toBe(before)
    expect(process.memoryUsage().rss - memory).toBeLessThan(64e6)
    shell.resume()
    await until(() => text().length > before + 1e6)
    expect(text().slice(0, 1e6)).toBe('y\r\n'.repeat(333_334).slice(0, 1e6))
    await shell.end()
    expect(said.at(-1)?.type).toBe('terminal/exited')
  })

  test('output is complete after many pauses', async () => {
    const { shell, text, exited } = await line('seq 1 300000; printf END')
    let over = false
    void exited().then(() => (over = true))
    while (!over) {
      shell.pause()
      await sleep(1)
      shell.resume()
      await new Promise(setImmediate)
    }
    expect(text()).toBe(`${Array.from({ length: 300_000 }, (_, i) => `${i + 1}\r\n`).join('')}END`)
  })

  test.each([false, true])('Ctrl-C stops a flood, paused: %s', async (paused) => {
    const { shell, text, exited } = await line('exec yes')
    await until(() => text().length > 1e6)
    if (paused) shell.pause()
    shell.input('\x03')
    if (paused) {
      await meanwhile()
      shell.resume()
    }
    // Without the Ctrl-C, `yes` would write for ever.
    expect(await exited()).toBe(130)
  })

  test('a shell works again after a flood', async () => {
    const { run, type, commands } = await openPrompt('bash')
    type('yes\r')
    await until(() => (commands()[0]?.output.length ?? 0) > 1e5)
    type('\x03')
    await until(() => commands()[0]?.done)
    expect((await run('echo fine')).output).toBe('fine\r\n')
  })

  test('after many titles and sizes, the last ones count', async () => {
    const storm = `i=0; while [ $i -lt 3000 ]; do i=$((i+1)); printf '\\033]0;title %d\\007' $i; done; read x; stty size`
    const { shell, said, text, exited } = await line(storm)
    for (let i = 0; i < 500; i++) shell.resize(20 + (i % 180), 10 + (i % 50))
    shell.resize(77, 33)
    shell.input('\r')
    await exited()
    const titles = said.flatMap((one) => (one.type === 'terminal/titleChanged' ? [one.title] : []))
    expect(titles.at(-1)).toBe('title 3000')
    expect(titles.length).toBeLessThan(200)
    expect(text()).toContain('33 77')
  })
})

describe('[M1] output', () => {
  test('[M1.2] characters are complete, wherever their bytes were split', async () => {
    const { text, said, exited } = await line(
      `for b in 360 237 230 200 342 202 254 303 251 377 101; do printf "\\\\$b"; sleep 0.03; done`,
    )
    await exited()
    expect(text()).toBe('😀€é\ufffdA')
    expect(said.every((one) => one.type !== 'terminal/data' || !/[\ud800-\udbff]$/.test(one.data))).toBe(true)
  })

  test('[M1.2] an incomplete character at the end is a replacement character', async () => {
    const { text, exited } = await line(`printf 'a\\360\\237'`)
    await exited()
    expect(text()).toBe('a\ufffd')
  })

  test('[S-57 terminalData] at 65,536: no action is longer', async () => {
    const { said, exited } = await line(`yes 12345678 | tr -d '\\n' | head -c 1000000`)
    await exited()
    expect(lengths(said).reduce((sum, each) => sum + each, 0)).toBe(1_000_000)
    expect(Math.max(...lengths(said))).toBeLessThanOrEqual(limits.terminalData)
  })

  test('[S-57 terminalData] past 65,536: the rest is in the next action, and no character is split', async () => {
    const { shell, said, text, exited } = await line(
      `stty -echo; yes 😀 | tr -d '\\n' | head -c 100000; read x; printf abcdefgh`,
      { limits: { terminalData: 5 } },
    )
    await until(() => text().length === 50_000)
    shell.input('\r')
    await exited()
    expect(text()).toBe(`${'😀'.repeat(25_000)}abcdefgh`)
    expect(Math.max(...lengths(said))).toBe(5)
    expect(said.every((one) => one.type !== 'terminal/data' || !/[\ud800-\udbff]$/.test(one.data))).toBe(true)
    expect(lengths(said).slice(-2)).toEqual([5, 3])
  })

  test('[S-57 terminalSide] at 1,000: the terminal has that size', async () => {
    const { text, exited, shell } = await line('read x; stty size')
    shell.resize(1000, 1000)
    shell.input('\r')
    await exited()
    expect(text()).toContain('1000 1000')
  })

  test('[S-57 terminalSide] past 1,000: the size is limited, and at least 1', async () => {
    for (const [side, seen] of [
      [1001, '1000'],
      [70_000, '1000'],
      [Infinity, '1000'],
      [0, '1'],
      [-3, '1'],
      [NaN, '1'],
      [2.9, '2'],
    ] as const) {
      const { text, exited, shell } = await line('read x; stty size')
      shell.resize(side, side)
      shell.input('\r')
      await exited()
      expect(text()).toContain(`${seen} ${seen}`)
    }
  })
})

describe('[M2] input', () => {
  /** A program that reads this number of bytes, and none before `goOn`. */
  const slow = async (bytes: number) => {
    const go = join(newFolder(), 'go')
    const waits = `until [ -e '${go}' ]; do sleep 0.01; done`
    const reads = `head -c ${bytes} | cksum; stty min 0 time 2; wc -c`
    const all = await line(`stty raw -echo; echo up; ${waits}; ${reads}`)
    await until(() => all.text().includes('up'))
    return { ...all, goOn: () => writeFileSync(go, '') }
  }

  test('is kept for a program that does not read, without blocking the host', async () => {
    const { shell, text, exited, goOn } = await slow(300_000)
    // A blocking write would never return.
    shell.input('x'.repeat(300_000))
    goOn()
    await exited()
    expect(text()).toMatch(/300000\s*0\s*$/)
  })

  test('[S-57 terminalTyped] at 1,048,576: all input is delivered', async () => {
    const { shell, text, exited, goOn } = await slow(1_048_576)
    shell.input('x'.repeat(1_048_576))
    goOn()
    await exited()
    expect(text()).toMatch(/1048576\s*0\s*$/)
  })

  test('[S-57 terminalTyped] past 1,048,576: input that does not fit is dropped as a whole, and later input that fits is delivered', async () => {
    const { shell, text, exited, goOn } = await slow(1_000_004)
    shell.input('x'.repeat(1_000_000))
    shell.input('y'.repeat(1_048_577))
    shell.input('y'.repeat(200_000))
    shell.input('tail')
    goOn()
    await exited()
    expect(text()).toMatch(/1000004\s*0\s*$/)
  })
})
