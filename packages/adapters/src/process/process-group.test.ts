import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { processesWith, uniqueSeconds } from '../../test/processes.ts'
import { openPrompt } from '../../test/shell-prompt.ts'
import { line, until } from '../../test/shells.ts'

const many = (count: number) => (word: string) => processesWith(word).length >= count

const quick = { limits: { terminalGraceMs: 200 } }

describe('[M8] ending a terminal', () => {
  test.each([
    ['a program', (s: string) => `exec sleep ${s}`, 1],
    ['one that does not heed a hangup', (s: string) => `trap '' HUP; sleep ${s}`, 2],
    ['one that was told not to', (s: string) => `nohup sleep ${s} >/dev/null & sleep ${s}; wait`, 3],
    ['jobs in groups of their own', (s: string) => `set -m; sleep ${s} & sleep ${s} & wait`, 3],
    ['one that is stopped', (s: string) => `trap '' HUP; kill -STOP $$; echo ${s}`, 1],
    ['one whose parent has gone', (s: string) => `trap '' HUP; (sleep ${s} &); sleep ${s}`, 3],
    [
      'one that starts others again and again',
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

  test('asks first: who heeds a hangup may tidy up', async () => {
    const { shell, text, exited } = await line(
      `trap 'echo tidy; exit 3' HUP; echo up; while :; do sleep 0.05; done`,
    )
    await until(() => text().includes('up'))
    await shell.end()
    expect(text()).toContain('tidy')
    expect(await exited()).toBe(3)
  })

  test('asks also who is stopped', async () => {
    const { shell, text } = await line(`trap 'echo tidy; exit' HUP; echo up; kill -STOP $$; sleep 5`)
    await until(() => text().includes('up'))
    await shell.end()
    expect(text()).toContain('tidy')
  })

  test('ends a program by whatever name', async () => {
    const seconds = uniqueSeconds()
    const name = `'./) Z 0 0 0 ('`
    const { shell } = await line(`cp /bin/sleep ${name}; trap '' HUP; ${name} ${seconds}`, quick)
    await until(() => many(2)(seconds))
    await shell.end()
    expect(processesWith(seconds)).toEqual([])
  })

  test('jobs of a shell that was left by exit go with it, whether they hold its pty or not', async () => {
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

  test('who has left the session is not its, and holds nobody up', async () => {
    const seconds = uniqueSeconds()
    const { shell, exited } = await line(`setsid sleep ${seconds} & sleep 0.2; exit 4`)
    expect(await exited()).toBe(4)
    await shell.end()
    const [left, ...more] = processesWith(seconds)
    expect(more).toEqual([])
    if (left) process.kill(left, 'SIGKILL')
    expect(left).toBeDefined()
  })

  test('a signal is told as shells do', async () => {
    for (const [signal, exitCode] of [
      ['KILL', 137],
      ['TERM', 143],
      ['HUP', 129],
    ] as const)
      expect(await (await line(`kill -${signal} $$; sleep 5`)).exited()).toBe(exitCode)
  })

  test(`[S-57 terminalGraceMs] at 1,000 ms: who tidies up that long has the time`, async () => {
    const { shell, text } = await line(
      `trap 'sleep 0.3; echo tidy; exit' HUP; echo up; while :; do sleep 0.05; done`,
    )
    await until(() => text().includes('up'))
    await shell.end()
    expect(text()).toContain('tidy')
  })

  test(`[S-57 terminalGraceMs] past 1,000 ms: it is killed`, async () => {
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
