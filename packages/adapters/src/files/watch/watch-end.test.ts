import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { heldWatches, watching } from '../../../test/watch-fixture.ts'
import { eachMeans } from './notify-backend.ts'

const watched = (prepare?: (path: string) => void) => watching({}, prepare)

test('[O7] what has ended holds nothing of the system', async ({ skip }) => {
  if (process.platform !== 'linux') skip('no inotify')
  const before = heldWatches()
  const { watch } = await watched((path) => {
    for (let i = 0; i < 100; i++) mkdirSync(join(path, `${i}/a`), { recursive: true })
  })
  expect(heldWatches() - before).toBe(201)
  await watch.end()
  expect(heldWatches()).toBe(before)
})

test('[O7] directories that have gone or moved hold nothing either', async ({ skip }) => {
  if (process.platform !== 'linux') skip('no inotify')
  const { at, listener } = await watched((path) => mkdirSync(join(path, 'a/b'), { recursive: true }))
  const before = heldWatches()
  for (let i = 0; i < 20; i++) {
    mkdirSync(at(`${i}/x`), { recursive: true })
    await listener.heard(`${i}/x`, 'added')
    if (i % 2) renameSync(at(`${i}`), at(`a/${i}`))
    rmSync(at(i % 2 ? `a/${i}` : `${i}`), { recursive: true })
    await listener.heard(`${i}/x`, 'deleted')
  }
  writeFileSync(at('last'), '1')
  await listener.heard('last', 'added')
  expect(heldWatches()).toBe(before)
})

test('[O7] nothing is told once the end was asked for, also from the middle of a look', async () => {
  const { at, listener, watch } = await watched()
  for (let round = 0; round < 20; round++) {
    mkdirSync(at(`${round}/a/b`), { recursive: true })
    await listener.heard(`${round}/a/b`, 'added')
  }
  for (let i = 0; i < 300; i++) mkdirSync(at(`late-${i}/a/b`), { recursive: true })
  await listener.until(() => listener.paths.size > 60)
  const end = watch.end()
  const { calls } = listener
  await end
  await new Promise(setImmediate)
  expect(listener.calls).toBe(calls)
})

test('[O7] nor from the middle of a look that had much to tell', async () => {
  const gate = { hold: Promise.resolve(), entered: () => {}, open: () => {} }
  const enter = async (path: string) => {
    gate.entered()
    await gate.hold
    return eachMeans.enter(path)
  }
  const { at, listener, watch } = await watching({ means: { ...eachMeans, enter } })
  gate.hold = new Promise((resolve) => (gate.open = resolve))
  const looks = new Promise<void>((resolve) => (gate.entered = resolve))
  writeFileSync(at('file'), '1')
  await looks
  const end = watch.end()
  gate.open()
  await end
  expect(listener.calls).toBe(0)
})
