import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '@atrium/protocol/limits'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Listener, everything } from '../../host/src/ports/watch.contract.ts'
import type { Yard } from '../../host/src/ports/watch.contract.ts'
import { newYard } from '../test/yard.ts'
import { eachMeans } from './files-node-watch-means.ts'
import type { Entered, Means } from './files-node-watch-means.ts'
import type { Terms } from './files-node-watch-terms.ts'
import { watchTree } from './files-node-watch.ts'

const soon = { windowMs: 10, beatMs: 20, absentMs: 20 }

async function watching(terms: Partial<Terms> = {}, prepare: (path: string) => void = () => {}) {
  const yard = await newYard()
  prepare(yard.path)
  const listener = new Listener(await yard.list())
  const watch = await watchTree(yard.path, everything, listener.tell, terms)
  onTestFinished(() => watch.end())
  return { ...yard, listener, watch, at: (name: string) => join(yard.path, name) }
}

/** As a client does: after a loss it looks at everything again, else it believes what it is told. */
async function settled(listener: Listener, yard: Pick<Yard, 'list'>): Promise<void> {
  let lost = 0
  await listener.until(async () => {
    const there = await yard.list()
    if (listener.lost > lost) {
      lost = listener.lost
      listener.paths.clear()
      for (const path of there) listener.paths.add(path)
    }
    return listener.paths.size === there.size && [...there].every((path) => listener.paths.has(path))
  })
}

describe('[F-40b] more than can be heard', () => {
  test(
    '100,000 files that come fast: all are told, or that some were lost',
    { timeout: 120_000 },
    async () => {
      const { path, at, listener, list } = await watching()
      const child = spawn(process.execPath, ['-e', makes(100, 1000), path], { stdio: 'inherit' })
      expect(await once(child, 'exit')).toEqual([0, null])
      await settled(listener, { list })
      for (let i = 0; i < 100; i++) closeSync(openSync(at(`${i}/later`), 'w'))
      await settled(listener, { list })
      expect(listener.paths.size).toBe(100 * 1002)
    },
  )

  test('what the system drops while nobody reads is said to be lost', { timeout: 120_000 }, async () => {
    const { path, at, listener, list } = await watching({}, (path) => mkdirSync(join(path, '0')))
    // Nothing is read meanwhile: the system keeps 16,384 events, if nobody told it otherwise.
    expect(spawnSync(process.execPath, ['-e', makes(40, 1000), path]).status).toBe(0)
    await listener.until(() => listener.lost > 0)
    await settled(listener, { list })
    for (let i = 0; i < 40; i++) closeSync(openSync(at(`${i}/later`), 'w'))
    await settled(listener, { list })
    expect(listener.paths.size).toBe(40 * 1002)
  })

  const makes = (folders: number, files: number) => `
    const { closeSync, mkdirSync, openSync } = require('node:fs')
    for (let i = 0; i < ${folders}; i++) {
      mkdirSync(process.argv[1] + '/' + i, { recursive: true })
      for (let j = 0; j < ${files}; j++) closeSync(openSync(process.argv[1] + '/' + i + '/' + j, 'w'))
    }`
})

describe('[F-40b] [O8] less than is needed', () => {
  /** A system that lets so many directories be watched. */
  function poor(room: { left: number }, code = 'ENOSPC'): Means {
    return {
      ...eachMeans,
      watch(at, hear) {
        if (room.left <= 0) throw Object.assign(new Error(code), { code })
        room.left--
        return eachMeans.watch(at, hear)
      },
    }
  }

  test.each(['ENOSPC', 'EMFILE'])('%s: what is watched is told, the rest is seen late', async (code) => {
    const room = { left: 1 }
    const { at, listener } = await watching({ means: poor(room, code), pace: soon }, (path) => {
      mkdirSync(join(path, 'a/b'), { recursive: true })
      for (const name of ['a/old', 'a/gone', 'a/b/old']) writeFileSync(join(path, name), '1')
    })
    await listener.until(() => listener.lost > 0)
    writeFileSync(at('top'), '1')
    writeFileSync(at('a/new'), '1')
    writeFileSync(at('a/b/old'), '22')
    rmSync(at('a/gone'))
    await listener.until(() => ['top', 'a/new'].every((path) => listener.has(path, 'added')))
    await listener.until(() => listener.has('a/b/old', 'updated') && listener.has('a/gone', 'deleted'))
    expect(listener.changes.length).toBe(4)
    expect(listener.lost).toBe(1)
    mkdirSync(at('c/d'), { recursive: true })
    writeFileSync(at('c/d/e'), '1')
    await listener.heard('c/d/e', 'added')
  })

  test('when there is room again, all are listened to', async () => {
    const room = { left: 1 }
    const { at, listener } = await watching({ means: poor(room), pace: soon }, (path) =>
      mkdirSync(join(path, 'a/b'), { recursive: true }),
    )
    await listener.until(() => listener.lost > 0)
    room.left = 10
    writeFileSync(at('a/b/1'), '1')
    await listener.heard('a/b/1', 'added')
    writeFileSync(at('a/b/2'), '1')
    await listener.heard('a/b/2', 'added')
    expect(room.left).toBe(8)
    expect(listener.lost).toBe(1)
  })

  test('a directory that cannot even be opened now is read when it can', async () => {
    let full = false
    const means: Means = {
      ...eachMeans,
      enter: (path) =>
        full && path.endsWith('/a')
          ? Promise.reject(Object.assign(new Error('full'), { code: 'EMFILE' }))
          : eachMeans.enter(path),
    }
    const { at, listener } = await watching({ means, pace: soon }, (path) => mkdirSync(join(path, 'a')))
    full = true
    writeFileSync(at('a/1'), '1')
    await listener.until(() => listener.lost > 0)
    full = false
    await listener.heard('a/1', 'added')
  })
})

describe('what is bounded', () => {
  const makeFiles = (path: string, count: number) => {
    for (let i = 0; i < count; i++) closeSync(openSync(join(path, `${i}`), 'w'))
  }

  test('[S-57 watchChanges] at 5,000: all are told at once', async () => {
    const { path, listener } = await watching()
    makeFiles(path, 5000)
    await listener.until(() => listener.calls > 0)
    expect([listener.calls, listener.changes.length, listener.lost]).toEqual([1, 5000, 0])
  })

  test('[S-57 watchChanges] past 5,000: that is said once, and it goes on', async () => {
    const { path, at, listener } = await watching()
    makeFiles(path, 5001)
    await listener.until(() => listener.calls > 0)
    expect([listener.calls, listener.changes.length, listener.lost]).toEqual([1, 0, 1])
    writeFileSync(at('later'), '1')
    await listener.heard('later', 'added')
    expect(listener.changes.map(({ path }) => path)).toEqual(['later'])
  })

  test('[F-40b] a directory with more than can be told is told of as lost, though little was heard', async () => {
    const { path, at, listener } = await watching()
    mkdirSync(at('a'))
    makeFiles(join(path, 'a'), 5001)
    await listener.until(() => listener.calls > 0)
    expect([listener.changes.length, listener.lost]).toEqual([0, 1])
  })

  /** A tree of so many directories, which counts those listened to; those that are not hold a file when it was filled. */
  function wide(count: number) {
    const below = new Map(Array.from({ length: count - 1 }, (_, i) => [`${i}`, true]))
    const tree = { ears: new Set<string>(), filled: false }
    const watch: Means['watch'] = (at) => {
      tree.ears.add(at)
      return { close: () => tree.ears.delete(at) }
    }
    const enter = async (at: string): Promise<Entered> => ({
      ino: 1,
      at,
      look: async () => new Map(),
      stamp: async () => 1,
      leave: async () => {},
      async list() {
        if (!/\/\d+$/.test(at)) return below
        return new Map(tree.filled && !tree.ears.has(at) ? [['file', false]] : [])
      },
    })
    return { tree, means: { ...eachMeans, watch, enter } }
  }

  test('[S-57 watchDirectories] at 20,000: each is listened to', async () => {
    const { means, tree } = wide(20_000)
    const { listener, watch } = await watching({ means })
    expect(tree.ears.size).toBe(20_000)
    await watch.end()
    expect([tree.ears.size, listener.calls]).toEqual([0, 0])
  })

  test('[S-57 watchDirectories] past 20,000: that is said, and others are read from time to time', async () => {
    const { means, tree } = wide(20_001)
    const { listener, watch } = await watching({ means, pace: soon })
    await listener.until(() => listener.lost > 0)
    expect(tree.ears.size).toBe(20_000)
    tree.filled = true
    await listener.until(() => listener.changes.length > 0)
    expect([listener.changes.length, listener.lost]).toEqual([1, 1])
    await watch.end()
    expect(tree.ears.size).toBe(0)
  })

  /** A directory that says that it holds so many names. */
  function vast(count: number): Means {
    const names = new Map(Array.from({ length: count }, (_, i) => [`${i}`, false]))
    const enter = async (path: string): Promise<Entered> => ({
      ...(await eachMeans.enter(path)),
      list: async (most) => (names.size > most ? undefined : names),
    })
    return { ...eachMeans, enter }
  }

  test('[S-57 watchNames] at 1,000,000: all are known', async () => {
    const { at, listener } = await watching({ means: vast(limits.watchNames) })
    writeFileSync(at('7'), '1')
    await listener.heard('7', 'updated')
    expect(listener.lost).toBe(0)
  })

  test('[S-57 watchNames] past 1,000,000: that is said, and none is known', async () => {
    const { at, listener } = await watching({ means: vast(limits.watchNames + 1), pace: soon })
    await listener.until(() => listener.lost > 0)
    writeFileSync(at('7'), '1')
    await listener.heard('7', 'added')
    expect(listener.lost).toBe(1)
  })
})
