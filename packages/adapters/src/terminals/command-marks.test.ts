import type { TerminalOutput } from '@atrium/host/ports/terminals'
import { limits } from '@atrium/protocol/limits'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { line } from '../../test/shells.ts'
import { Commands } from './command-marks.ts'
import { Fact } from './throttled-value.ts'

function commands() {
  const said: TerminalOutput[] = []
  const clock = { now: 0 }
  return {
    said,
    clock,
    one: new Commands(
      (each) => said.push(each),
      limits,
      () => clock.now,
    ),
  }
}

const types = (said: readonly TerminalOutput[]) => said.map(({ type }) => type.slice('terminal/'.length))

describe('[M6] marks', () => {
  test('of one command after another', () => {
    const { one, said, clock } = commands()
    one.mark({ at: 'prompt' })
    one.mark({ at: 'line', line: 'ls' })
    one.mark({ at: 'executed' })
    clock.now = 1234.4
    one.mark({ at: 'finished', exitCode: 2 })
    one.mark({ at: 'prompt' })
    one.mark({ at: 'executed' })
    expect(types(said)).toEqual([
      'commandDetectionAvailable',
      'commandExecuted',
      'commandFinished',
      'commandExecuted',
    ])
    expect(said[1]).toMatchObject({ commandLine: 'ls' })
    expect(said[2]).toMatchObject({ exitCode: 2, durationMs: 1234 })
    expect(said[3]).toMatchObject({ commandLine: '' })
    expect(said[3]).not.toMatchObject({ commandId: (said[1] as { commandId: string }).commandId })
  })

  test('that are missing or come twice', () => {
    const { one, said } = commands()
    one.mark({ at: 'finished', exitCode: 1 })
    one.mark({ at: 'executed', line: 'a' })
    one.mark({ at: 'executed', line: 'b' })
    one.mark({ at: 'prompt' })
    one.mark({ at: 'finished', exitCode: 1 })
    expect(types(said)).toEqual(['commandExecuted', 'commandFinished', 'commandDetectionAvailable'])
    expect(said[0]).toMatchObject({ commandLine: 'a' })
    expect(said[1]).not.toHaveProperty('exitCode')
  })

  test('of a shell that nothing is known of are believed', async () => {
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

  test('[S-57 commandLength] at 8,192: a line is whole', () => {
    const { one, said } = commands()
    one.mark({ at: 'executed', line: 'x'.repeat(8192) })
    expect(said[0]).toMatchObject({ commandLine: 'x'.repeat(8192) })
  })
  test('[S-57 commandLength] past 8,192: the rest is cut off, and no character in two', () => {
    for (const more of ['y', '😀']) {
      const { one, said } = commands()
      one.mark({ at: 'executed', line: `${'x'.repeat(more === 'y' ? 8192 : 8191)}${more}` })
      expect(said[0]).toMatchObject({ commandLine: 'x'.repeat(more === 'y' ? 8192 : 8191) })
    }
  })

  const storm = (count: number) => {
    const all = commands()
    for (let i = 0; i < count; i++) for (const at of ['executed', 'finished'] as const) all.one.mark({ at })
    return all
  }
  test('[S-57 commandRate] at 100 in a second: each is told', () =>
    expect(types(storm(100).said)).toHaveLength(200))
  test('[S-57 commandRate] past 100 in a second: no more, until the next', () => {
    const { one, said, clock } = storm(150)
    expect(types(said)).toHaveLength(200)
    clock.now = 999
    one.mark({ at: 'executed' })
    expect(types(said)).toHaveLength(200)
    clock.now = 1000
    one.mark({ at: 'executed' })
    expect(types(said)).toHaveLength(201)
  })
})

describe('[M5] titles and directories', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function fact(known?: string) {
    const said: string[] = []
    return { said, one: new Fact((value) => said.push(value), limits.terminalFactMs, known) }
  }

  test('the same again is not said, nor what is known', () => {
    const { one, said } = fact('a')
    one.set('a')
    one.set('b')
    vi.advanceTimersByTime(1000)
    one.set('b')
    vi.advanceTimersByTime(1000)
    expect(said).toEqual(['b'])
  })

  test('[S-57 terminalFactMs] at 100 ms: the newest of those between is said', () => {
    const { one, said } = fact()
    for (const value of ['a', 'b', 'c']) one.set(value)
    expect(said).toEqual(['a'])
    vi.advanceTimersByTime(100)
    expect(said).toEqual(['a', 'c'])
    vi.advanceTimersByTime(100)
    one.set('d')
    expect(said).toEqual(['a', 'c', 'd'])
  })

  test('[S-57 terminalFactMs] past 100 ms: and not before, nor is anything said after the end', () => {
    const { one, said } = fact()
    one.set('a')
    one.set('b')
    vi.advanceTimersByTime(99)
    expect(said).toEqual(['a'])
    one.end()
    expect(said).toEqual(['a', 'b'])
    vi.advanceTimersByTime(1000)
    expect(said).toEqual(['a', 'b'])
  })

  test('what changes and changes back in between is not said', () => {
    const { one, said } = fact()
    for (const value of ['a', 'b', 'a']) one.set(value)
    vi.advanceTimersByTime(100)
    expect(said).toEqual(['a'])
  })
})
