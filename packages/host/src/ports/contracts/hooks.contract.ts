import { describe, expect, test } from 'vitest'
import type { HookOutcome, HookRun, HookRunner } from '../hooks.ts'

/** A runner, a folder for its commands, and a command that runs until somebody ends it. */
export interface HookBench {
  readonly runner: HookRunner
  readonly folder: string
  readonly endless: string
  /** The number of running processes of that command. */
  alive(): number
}

/** The suite that every adapter of `HookRunner` passes. */
export function hooksContract(name: string, open: () => Promise<HookBench>): void {
  describe(`${name}: hooks`, () => {
    const run = async ({ runner, folder }: HookBench, line: string, more: Partial<HookRun> = {}) => {
      const given = { line, cwd: folder, env: {}, input: '', timeoutMs: 60_000, maxLength: 1000, ...more }
      return runner.run(given, new AbortController().signal)
    }

    test('[H18.3] [H18] a command gets the event on its standard input, its variables and its directory', async () => {
      const bench = await open()
      const outcome = await run(bench, 'cat; printf " %s %s" "$COLOUR" "$PWD"', {
        input: '{"a":1}',
        env: { COLOUR: 'red' },
      })
      expect(outcome).toEqual({ exitCode: 0, stdout: `{"a":1} red ${bench.folder}`, stderr: '' })
    })

    test('[H18] the exit code and both outputs of a command are returned', async () => {
      const outcome = await run(await open(), 'echo out; echo err >&2; exit 2')
      expect(outcome).toEqual({ exitCode: 2, stdout: 'out\n', stderr: 'err\n' })
    })

    test('[H18] a command that does not read its input ends all the same', async () => {
      expect((await run(await open(), 'exit 3', { input: 'x'.repeat(1_000_000) })).exitCode).toBe(3)
    })

    test('[S-57 hookOutput] at 32,768 characters an output is whole; [S-57 hookOutput] past 32,768 the rest is dropped', async () => {
      const bench = await open()
      const max = { maxLength: 32_768 }
      for (const [written, kept] of [
        [32_768, 32_768],
        [32_769, 32_768],
      ])
        expect((await run(bench, `head -c ${written} /dev/zero | tr '\\0' x`, max)).stdout).toHaveLength(
          Number(kept),
        )
    })

    test('[H18] output beyond the limit is dropped', async () => {
      const { stdout, exitCode } = await run(await open(), 'yes | head -c 5000000', { maxLength: 10 })
      expect([exitCode, stdout]).toEqual([0, 'y\ny\ny\ny\ny\n'])
    })

    test('[H18.3] [H18] a command is ended with its children when its time is over', async () => {
      const bench = await open()
      const outcome = await run(bench, `${bench.endless} & ${bench.endless}`, { timeoutMs: 100 })
      expect(outcome.exitCode).toBeUndefined()
      expect(outcome.problem).toMatch(/took longer than/)
      await expect.poll(() => bench.alive(), { timeout: 200_000 }).toBe(0)
    })

    test('[H18.3] [H18] a command is ended with its children when it is aborted', async () => {
      const bench = await open()
      const abort = new AbortController()
      const given = { line: bench.endless, cwd: bench.folder, env: {}, input: '' }
      const running: Promise<HookOutcome> = bench.runner.run(
        { ...given, timeoutMs: 600_000, maxLength: 100 },
        abort.signal,
      )
      await expect.poll(() => bench.alive(), { timeout: 200_000 }).toBeGreaterThan(0)
      abort.abort()
      expect((await running).problem).toBe('It was ended.')
      await expect.poll(() => bench.alive(), { timeout: 200_000 }).toBe(0)
    })

    test('[H18] a command in a directory that does not exist has a problem and no exit code', async () => {
      const outcome = await run(await open(), 'true', { cwd: '/no/such/folder' })
      expect(outcome.exitCode).toBeUndefined()
      expect(outcome.problem).toBeDefined()
    })
  })
}
