import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { beginTurn, capturedSession, endTurn, endedRecord } from '../../test/captures/captured-session.ts'
import { MemoryCaptures } from '../../test/captures/memory-captures.ts'
import { until } from '../../test/scripted-agent.ts'
import { accepted, chat, started } from '../../test/two-client-session.ts'
import { CaptureFailed } from '../ports/captures.ts'
import type { CaptureBudget, CaptureOptions } from '../ports/captures.ts'
import { sharedAfter } from './attribution.ts'

/** Captures that cost what the test says. */
class Costly extends MemoryCaptures {
  readonly #cost: CaptureBudget
  /** The paths that the last capture does not have. */
  omitted: readonly string[] = []

  constructor(cost: Partial<CaptureBudget>) {
    super()
    this.#cost = { bytes: 0, files: 0, fileBytes: 0, ...cost }
  }

  override async take(directory: string, options: CaptureOptions) {
    const { budget } = options
    if (this.#cost.bytes > budget.bytes || this.#cost.files > budget.files)
      throw new CaptureFailed('That is too much.')
    const capture = await super.take(directory, options)
    const omitted = this.#cost.fileBytes > budget.fileBytes ? [{ path: 'big', reason: 'It is large.' }] : []
    this.omitted = omitted.map(({ path }) => path)
    return { ...capture, omitted }
  }
}

async function problemWith(cost: Partial<CaptureBudget>): Promise<string | undefined> {
  const all = await capturedSession({}, new Costly(cost))
  await endTurn(all, await beginTurn(all, 't1'))
  return (await endedRecord(all, 't1'))?.folders[0]?.problem
}

test('[S-57 captureBytes] at 536,870,912 bytes a turn is captured', async () => {
  expect(await problemWith({ bytes: limits.captureBytes })).toBeUndefined()
})

test('[S-57 captureBytes] past 536,870,912 bytes the turn goes on, and cannot be undone', async () => {
  expect(await problemWith({ bytes: limits.captureBytes + 1 })).toBe('That is too much.')
})

test('[S-57 captureFiles] at 100,000 files a turn is captured', async () => {
  expect(await problemWith({ files: limits.captureFiles })).toBeUndefined()
})

test('[S-57 captureFiles] past 100,000 files the turn goes on, and cannot be undone', async () => {
  expect(await problemWith({ files: limits.captureFiles + 1 })).toBe('That is too much.')
})

async function omittedWith(fileBytes: number): Promise<readonly string[]> {
  const captures = new Costly({ fileBytes })
  const all = await capturedSession({}, captures)
  await endTurn(all, await beginTurn(all, 't1'))
  return captures.omitted
}

test('[S-57 captureFileBytes] at 16,777,216 bytes a file is captured', async () => {
  expect(await omittedWith(limits.captureFileBytes)).toEqual([])
})

test('[S-57 captureFileBytes] past 16,777,216 bytes a file is named and not captured', async () => {
  expect(await omittedWith(limits.captureFileBytes + 1)).toEqual(['big'])
})

/** Starts a turn whose capture takes as long as the clock is moved. */
async function slowly(ms: number) {
  const captures = new MemoryCaptures()
  const all = await capturedSession({}, captures)
  const take = captures.take.bind(captures)
  let release: (() => void) | undefined
  let stopped = false
  captures.take = async (directory, options) => {
    options.signal.addEventListener('abort', () => (stopped = true))
    await new Promise<void>((resolve) => (release = resolve))
    return take(directory, { ...options, signal: new AbortController().signal })
  }
  await accepted(all.ann, chat, started('t1'))
  await until(() => release !== undefined)
  all.world.advance(ms)
  release?.()
  captures.take = take
  await endTurn(all, await all.agent.given(0))
  return { problem: (await endedRecord(all, 't1'))?.folders[0]?.problem, stopped }
}

test('[S-57 turnCaptureMs] at 10,000 ms, not yet over, a capture is still awaited', async () => {
  expect(await slowly(limits.turnCaptureMs - 1)).toEqual({ problem: undefined, stopped: false })
})

test('[S-57 turnCaptureMs] past 10,000 ms a capture is stopped; the turn goes on, and cannot be undone', async () => {
  const { problem, stopped } = await slowly(limits.turnCaptureMs)
  expect(problem).toContain('within 10 s')
  expect(stopped).toBe(true)
})

const changes = (count: number) => Array.from({ length: count }, (_, n) => ({ path: `f${n}` }))

test('[S-57 sharedPaths] at 1,000 shared paths each of them is known', () => {
  const period = { own: false, others: false, changes: changes(1000) }
  expect(sharedAfter(undefined, period, limits.sharedPaths)).toHaveLength(1000)
})

test('[S-57 sharedPaths] past 1,000 shared paths all paths of the turn count as shared', () => {
  const period = { own: false, others: false, changes: changes(1001) }
  expect(sharedAfter(undefined, period, limits.sharedPaths)).toBe(true)
})
