import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { processesWith, uniqueSeconds } from '../../test/processes.ts'
import { openPrompt } from '../../test/shell-prompt.ts'
import { line, until } from '../../test/shells.ts'

const many = (count: number) => (word: string) => processesWith(word).length >= count

const quick = { limits: { terminalGraceMs: 200 } }
/** So much time that a shell on a busy machine can clean up, too. */
const patient = { limits: { terminalGraceMs: 60_000 } }

describe('[M8] ending a terminal', () => {
  test.each([
    ['a program', (s: string) => `exec sleep ${s}`, 1],
    ['a program that ignores SIGHUP', (s: string) => `trap '' HUP; sleep ${s}`, 2],
    ['a program under nohup', (s: string) => `nohup sleep ${s} >/dev/null & sleep ${s}; wait`, 3],
    ['jobs in process groups of their own', (s: string) => `set -m; sleep ${s} & sleep ${s} & wait`, 3],
    ['a stopped program', (s: string) => `trap '' HUP; kill -STOP $$; echo ${s}`, 1],
    ['a program whose parent has exited', (s: string) => `trap '' HUP; (sleep ${s} &); sleep ${s}`, 3],
    [
      'a program that keeps starting others',
      (s: string) => `trap '' HUP; while :; do sleep 0.01; : ${s}; done`,
      1,
    ],
  ])('ends %s', async (_, command, count) => {
    const seconds = uniqueSeconds()
    const { shell, said } = await line(command(seconds), quick)
    await until(() => many(count)(seconds))
    await shell.end()
    expect(processesWith(seconds)).toEqual([])
    expect(said.at(-1)?.type).toBe('terminal/exited')
  })

  test('sends SIGHUP first, so that a program can clean up', async () => {
    const { shell, text, exited } = await line(
      `trap 'echo tidy; exit 3' HUP; echo up; while :; do sleep 0.05; done`,
      patient,
    )
    await until(() => text().includes('up'))
    await shell.end()
    expect(text()).toContain('tidy')
    expect(await exited()).toBe(3)
  })

  test('sends SIGHUP to a stopped program, too', async () => {
    const { shell, text } = await line(`trap 'echo tidy; exit' HUP; echo up; kill -STOP $$; sleep 5`, patient)
    await until(() => text().includes('up'))
    await shell.end()
    expect(text()).toContain('tidy')
  })

  test('ends a program with any name', async () => {
    const seconds = uniqueSeconds()
    const name = `'./) Z 0 0 0 ('`
    const { shell } = await line(`cp /bin/sleep ${name}; trap '' HUP; ${name} ${seconds}`, quick)
    await until(() => many(2)(seconds))
    await shell.end()
    expect(processesWith(seconds)).toEqual([])
  })

  test('jobs end with their shell, whether they hold its pty open or not', async () => {
    for (const job of ['', '</dev/null >/dev/null 2>&1']) {
      const seconds = uniqueSeconds()
      const { type, exited, run } = await openPrompt('bash', {}, quick)
      await run(`(trap '' HUP; exec sleep ${seconds} ${job}) & disown`)
      await until(() => many(1)(seconds))
      type('exit\r')
      await exited()
      await until(() => processesWith(seconds).length === 0)
    }
  })

  test('a process that has left the session is not ended and not waited for', async () => {
    const seconds = uniqueSeconds()
    // The sixth field of the file is the session of the process. The shell exits when the process leads its own.
    const hasLeft = 'read -r _ _ _ _ _ session _ </proc/$!/stat; [ "$session" = $! ]'
    const { shell, exited } = await line(
      `setsid sleep ${seconds} & until ${hasLeft}; do sleep 0.01; done; exit 4`,
    )
    expect(await exited()).toBe(4)
    await shell.end()
    const [left, ...more] = processesWith(seconds)
    expect(more).toEqual([])
    if (left) process.kill(left, 'SIGKILL')
    expect(left).toBeDefined()
  })

  test('[M1.1] a signal becomes an exit code as in shells', async () => {
    for (const [signal, exitCode] of [
      ['KILL', 137],
      ['TERM', 143],
      ['HUP', 129],
    ] as const)
      expect(await (await line(`kill -${signal} $$; sleep 5`)).exited()).toBe(exitCode)
  })

  test(`[S-57 terminalGraceMs] at 1,000 ms: a program that needs less time can clean up`, async () => {
    const { shell, text } = await line(
      `trap 'sleep 0.3; echo tidy; exit' HUP; echo up; while :; do sleep 0.05; done`,
      patient,
    )
    await until(() => text().includes('up'))
    await shell.end()
    expect(text()).toContain('tidy')
  })

  test(`[S-57 terminalGraceMs] past 1,000 ms: the program is killed`, async () => {
    const { shell, text, exited } = await line(
      `trap 'sleep 1000; echo tidy' HUP; echo up; while :; do sleep 0.05; done`,
    )
    await until(() => text().includes('up'))
    const before = performance.now()
    await shell.end()
    expect(await exited()).toBe(137)
    expect(text()).not.toContain('tidy')
    expect(performance.now() - before).toBeGreaterThanOrEqual(limits.terminalGraceMs)
  })
})
