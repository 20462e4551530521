import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { beginTurn, capturedSession, endTurn, endedRecord } from '../../../test/captures/captured-session.ts'
import { MemoryCaptures } from '@atrium/adapters/captures/memory'
import { until } from '../../../test/scripted-agent.ts'
import { testWorld } from '../../../test/world.ts'
import { accepted, chat, started } from '../../../test/two-client-session.ts'
import { CaptureFailed } from '../../ports/captures.ts'
import type { CaptureBudget, CaptureOptions } from '../../ports/captures.ts'
import { attributed } from './attribution.ts'
import { Taking } from './taking.ts'

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

/** Lets captures wait until they are stopped. Returns how often that has happened. */
function hang(captures: MemoryCaptures): () => number {
  const take = captures.take.bind(captures)
  let stops = 0
  captures.take = (_directory, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        stops++
        captures.take = take
        reject(new CaptureFailed('The capture was stopped.'))
      })
    })
  return () => stops
}

test('[O32.1] [O32] a stopping host stops a slow capture, and the next start takes it', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  const stops = hang(all.captures)
  all.write('f', 'new')
  run.end()
  await until(() => all.core().log.channel(chat, 'chat')?.committed?.activeTurn === undefined)
  let isOpen = false
  const restarting = all.restart('close').then(() => (isOpen = true))
  while (!isOpen) {
    await new Promise((resolve) => setImmediate(resolve))
    all.world.advance(limits.endMs)
  }
  await restarting
  expect(stops()).toBe(1)
  const [folder] = (await endedRecord(all, 't1'))?.folders ?? []
  expect(folder).toMatchObject({ shared: ['f'] })
  expect(folder?.problem).toBeUndefined()
})

test('[O32] a capture that a stopping host has stopped has no result, and no other begins', async () => {
  const captures = new MemoryCaptures()
  const stops = hang(captures)
  const taking = new Taking(captures, { world: testWorld(), limits })
  let results = 0
  void taking.take('/a').then(() => results++)
  await new Promise((resolve) => setImmediate(resolve))
  await taking.stop()
  void taking.take('/a').then(() => results++)
  await new Promise((resolve) => setImmediate(resolve))
  expect({ stops: stops(), results }).toEqual({ stops: 1, results: 0 })
})

const changes = (count: number) => Array.from({ length: count }, (_, n) => ({ path: `f${n}` }))

test('[S-57 sharedPaths] at 1,000 shared paths each of them is known', () => {
  const period = { calls: [], others: false, changes: changes(1000) }
  expect(attributed({ uncertain: [] }, period, limits.sharedPaths).shared).toHaveLength(1000)
})

test('[O33.2] [S-57 sharedPaths] past 1,000 shared paths all paths of the folder count as shared', () => {
  const period = { calls: [], others: false, changes: changes(1001) }
  expect(attributed({ uncertain: [] }, period, limits.sharedPaths).shared).toBe(true)
})

const during = { calls: [{ label: '`make`', writes: undefined }], others: false }

test('[S-57 sharedPaths] at 1,000 uncertain paths each of them is known', () => {
  const period = { ...during, changes: changes(1000) }
  const { uncertain } = attributed({ uncertain: [] }, period, limits.sharedPaths)
  expect(uncertain?.[0]?.paths).toHaveLength(1000)
})

test('[O33.2] [S-57 sharedPaths] past 1,000 uncertain paths all paths of the folder count as uncertain', () => {
  const period = { ...during, changes: changes(1001) }
  const { uncertain } = attributed({ uncertain: [] }, period, limits.sharedPaths)
  expect(uncertain).toEqual([{ during: '`make`', paths: true }])
})
