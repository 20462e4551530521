import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inotifyWatches, watching } from '../../../test/watch-fixture.ts'
import { perDirectoryBackend } from './notify-backend.ts'

const watched = (prepare?: (path: string) => void) => watching({}, prepare)

test('[O7] an ended watch holds no inotify watches', async ({ skip }) => {
  if (process.platform !== 'linux') skip('no inotify')
  const before = inotifyWatches()
  const { watch } = await watched((path) => {
    for (let i = 0; i < 100; i++) mkdirSync(join(path, `${i}/a`), { recursive: true })
  })
  expect(inotifyWatches() - before).toBe(201)
  await watch.end()
  expect(inotifyWatches()).toBe(before)
})

test('[O7] removed or moved directories hold no inotify watches', async ({ skip }) => {
  if (process.platform !== 'linux') skip('no inotify')
  const { at, listener } = await watched((path) => mkdirSync(join(path, 'a/b'), { recursive: true }))
  const before = inotifyWatches()
  for (let i = 0; i < 20; i++) {
    mkdirSync(at(`${i}/x`), { recursive: true })
    await listener.received(`${i}/x`, 'added')
    if (i % 2) renameSync(at(`${i}`), at(`a/${i}`))
    rmSync(at(i % 2 ? `a/${i}` : `${i}`), { recursive: true })
    await listener.received(`${i}/x`, 'deleted')
  }
  writeFileSync(at('last'), '1')
  await listener.received('last', 'added')
  expect(inotifyWatches()).toBe(before)
})

test('[O7] nothing is reported after end() was called, even during a pass', async () => {
  const { at, listener, watch } = await watched()
  for (let round = 0; round < 20; round++) {
    mkdirSync(at(`${round}/a/b`), { recursive: true })
    await listener.received(`${round}/a/b`, 'added')
  }
  for (let i = 0; i < 300; i++) mkdirSync(at(`late-${i}/a/b`), { recursive: true })
  await listener.until(() => listener.paths.size > 60)
  const end = watch.end()
  const { calls } = listener
  await end
  await new Promise(setImmediate)
  expect(listener.calls).toBe(calls)
})

test('[O7] nothing is reported by a pass that was reading when end() was called', async () => {
  const gate = { hold: Promise.resolve(), entered: () => {}, open: () => {} }
  const openDirectory = async (path: string) => {
    gate.entered()
    await gate.hold
    return perDirectoryBackend.openDirectory(path)
  }
  const { at, listener, watch } = await watching({ backend: { ...perDirectoryBackend, openDirectory } })
  gate.hold = new Promise((resolve) => (gate.open = resolve))
  const looks = new Promise<void>((resolve) => (gate.entered = resolve))
  writeFileSync(at('file'), '1')
  await looks
  const end = watch.end()
  gate.open()
  await end
  expect(listener.calls).toBe(0)
})
