import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { soon, watching } from '../../../test/watch-fixture.ts'
import { eachMeans } from './notify-backend.ts'
import type { Entered, Means } from './notify-backend.ts'

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

  test('[F-40b] what is remembered until the next look is bounded too, also of what leaves nothing', async () => {
    const { at, listener } = await watching({ limits: { ...limits, watchChanges: 10 } })
    for (let i = 0; i < 11; i++) {
      writeFileSync(at(`${i}`), '')
      rmSync(at(`${i}`))
    }
    await listener.until(() => listener.calls > 0)
    expect([listener.changes.length, listener.lost]).toEqual([0, 1])
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
