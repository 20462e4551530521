import type { TerminalOutput } from '@atrium/host/ports/terminals'
import { limits } from '@atrium/protocol/limits'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { line } from '../../test/shells.ts'
import { CommandMarks } from './command-marks.ts'
import { ThrottledValue } from './throttled-value.ts'

function commands() {
  const emitted: TerminalOutput[] = []
  const clock = { now: 0 }
  return {
    emitted,
    clock,
    one: new CommandMarks(
      (each) => emitted.push(each),
      limits,
      () => clock.now,
    ),
  }
}

const types = (emitted: readonly TerminalOutput[]) =>
  emitted.map(({ type }) => type.slice('terminal/'.length))

describe('[M6] marks', () => {
  test('[M6.3] of successive commands are reported', () => {
    const { one, emitted, clock } = commands()
    one.receive({ at: 'prompt' })
    one.receive({ at: 'line', line: 'ls' })
    one.receive({ at: 'executed' })
    clock.now = 1234.4
    one.receive({ at: 'finished', exitCode: 2 })
    one.receive({ at: 'prompt' })
    one.receive({ at: 'executed' })
    expect(types(emitted)).toEqual([
      'commandDetectionAvailable',
      'commandExecuted',
      'commandFinished',
      'commandExecuted',
    ])
    expect(emitted[1]).toMatchObject({ commandLine: 'ls' })
    expect(emitted[2]).toMatchObject({ exitCode: 2, durationMs: 1234 })
    expect(emitted[3]).toMatchObject({ commandLine: '' })
    expect(emitted[3]).not.toMatchObject({ commandId: (emitted[1] as { commandId: string }).commandId })
  })

  test('that are missing or repeated are tolerated', () => {
    const { one, emitted } = commands()
    one.receive({ at: 'finished', exitCode: 1 })
    one.receive({ at: 'executed', line: 'a' })
    one.receive({ at: 'executed', line: 'b' })
    one.receive({ at: 'prompt' })
    one.receive({ at: 'finished', exitCode: 1 })
    expect(types(emitted)).toEqual(['commandExecuted', 'commandFinished', 'commandDetectionAvailable'])
    expect(emitted[0]).toMatchObject({ commandLine: 'a' })
    expect(emitted[1]).not.toHaveProperty('exitCode')
  })

  test('[M6.1] of a shell without a nonce are accepted', async () => {
    const mark = (text: string) => `printf '\\033]133;${text}\\007'`
    const { said, text, exited } = await line([mark('A'), mark('C'), 'echo out', mark('D;3')].join(';'))
    await exited()
    expect(types(said)).toEqual([
      'commandDetectionAvailable',
      'commandExecuted',
      'data',
      'commandFinished',
      'exited',
    ])
    expect(text()).toBe('out\r\n')
  })

  test('[S-57 commandLength] at 8,192: a line is complete', () => {
    const { one, emitted } = commands()
    one.receive({ at: 'executed', line: 'x'.repeat(8192) })
    expect(emitted[0]).toMatchObject({ commandLine: 'x'.repeat(8192) })
  })
  test('[S-57 commandLength] past 8,192: a line is shortened, without splitting a character', () => {
    for (const more of ['y', '😀']) {
      const { one, emitted } = commands()
      one.receive({ at: 'executed', line: `${'x'.repeat(more === 'y' ? 8192 : 8191)}${more}` })
      expect(emitted[0]).toMatchObject({ commandLine: 'x'.repeat(more === 'y' ? 8192 : 8191) })
    }
  })

  const storm = (count: number) => {
    const all = commands()
    for (let i = 0; i < count; i++)
      for (const at of ['executed', 'finished'] as const) all.one.receive({ at })
    return all
  }
  test('[S-57 commandRate] at 100 in a second: each is reported', () =>
    expect(types(storm(100).emitted)).toHaveLength(200))
  test('[S-57 commandRate] past 100 in a second: no more are reported until the next second', () => {
    const { one, emitted, clock } = storm(150)
    expect(types(emitted)).toHaveLength(200)
    clock.now = 999
    one.receive({ at: 'executed' })
    expect(types(emitted)).toHaveLength(200)
    clock.now = 1000
    one.receive({ at: 'executed' })
    expect(types(emitted)).toHaveLength(201)
  })
})

describe('[M5] titles and directories', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function throttled(known?: string) {
    const emitted: string[] = []
    return { emitted, one: new ThrottledValue((value) => emitted.push(value), limits.terminalFactMs, known) }
  }

  test('a repeated value is not emitted, nor is the initial one', () => {
    const { one, emitted } = throttled('a')
    one.set('a')
    one.set('b')
    vi.advanceTimersByTime(1000)
    one.set('b')
    vi.advanceTimersByTime(1000)
    expect(emitted).toEqual(['b'])
  })

  test('[S-57 terminalFactMs] at 100 ms: the newest value is emitted', () => {
    const { one, emitted } = throttled()
    for (const value of ['a', 'b', 'c']) one.set(value)
    expect(emitted).toEqual(['a'])
    vi.advanceTimersByTime(100)
    expect(emitted).toEqual(['a', 'c'])
    vi.advanceTimersByTime(100)
    one.set('d')
    expect(emitted).toEqual(['a', 'c', 'd'])
  })

  test('[S-57 terminalFactMs] past 100 ms: nothing is emitted before, nor after the end', () => {
    const { one, emitted } = throttled()
    one.set('a')
    one.set('b')
    vi.advanceTimersByTime(99)
    expect(emitted).toEqual(['a'])
    one.end()
    expect(emitted).toEqual(['a', 'b'])
    vi.advanceTimersByTime(1000)
    expect(emitted).toEqual(['a', 'b'])
  })

  test('a value that changes back within the interval is not emitted', () => {
    const { one, emitted } = throttled()
    for (const value of ['a', 'b', 'a']) one.set(value)
    vi.advanceTimersByTime(100)
    expect(emitted).toEqual(['a'])
  })
})
