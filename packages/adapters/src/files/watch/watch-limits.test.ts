import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '@atrium/protocol/limits'
import { describe, expect, test, onTestFinished } from 'vitest'
import { fastTiming, watching } from '../../../test/watch-fixture.ts'
import { perDirectoryBackend } from './notify-backend.ts'
import type { NotifyBackend } from './notify-backend.ts'
import type { OpenDirectory } from './open-directory.ts'

describe('limits', () => {
  const makeFiles = (path: string, count: number) => {
    for (let i = 0; i < count; i++) closeSync(openSync(join(path, `${i}`), 'w'))
  }

  test('[S-57 watchChanges] at 5,000: all are reported together', async () => {
    const { path, listener } = await watching()
    makeFiles(path, 5000)
    await listener.until(() => listener.calls > 0)
    expect([listener.calls, listener.changes.length, listener.lost]).toEqual([1, 5000, 0])
  })

  test('[O8] [S-57 watchChanges] past 5,000: a loss is reported once, and the watch goes on', async () => {
    const { path, at, listener } = await watching()
    makeFiles(path, 5001)
    await listener.until(() => listener.calls > 0)
    expect([listener.calls, listener.changes.length, listener.lost]).toEqual([1, 0, 1])
    writeFileSync(at('later'), '1')
    await listener.received('later', 'added')
    expect(listener.changes.map(({ path }) => path)).toEqual(['later'])
  })

  test('[F-40b] the names kept until the next pass are bounded, also of files that are gone by then', async () => {
    const { at, listener } = await watching({ limits: { ...limits, watchChanges: 10 } })
    for (let i = 0; i < 11; i++) {
      writeFileSync(at(`${i}`), '')
      rmSync(at(`${i}`))
    }
    await listener.until(() => listener.calls > 0)
    expect([listener.changes.length, listener.lost]).toEqual([0, 1])
  })

  test('[F-40b] a new directory with too many entries is a loss, though it sent one event', async () => {
    const { path, at, listener } = await watching()
    mkdirSync(at('a'))
    makeFiles(join(path, 'a'), 5001)
    await listener.until(() => listener.calls > 0)
    expect([listener.changes.length, listener.lost]).toEqual([0, 1])
  })

  /**
   * A tree of `count` directories that records which of them are watched. Once `filled` is set, each unwatched directory
   * seems to hold a file.
   */
  function wide(count: number) {
    const below = new Map(Array.from({ length: count - 1 }, (_, i) => [`${i}`, true]))
    const tree = { watches: new Set<string>(), filled: false }
    const watch: NotifyBackend['watch'] = (at) => {
      tree.watches.add(at)
      return { close: () => tree.watches.delete(at) }
    }
    const openDirectory = async (at: string): Promise<OpenDirectory> => ({
      ino: 1,
      path: at,
      lookUp: async () => new Map(),
      changeTime: async () => 1,
      close: async () => {},
      async list() {
        if (!/\/\d+$/.test(at)) return below
        return new Map(tree.filled && !tree.watches.has(at) ? [['file', false]] : [])
      },
    })
    return { tree, backend: { ...perDirectoryBackend, watch, openDirectory } }
  }

  test('[S-57 watchDirectories] at 20,000: each is watched', async () => {
    const { backend, tree } = wide(20_000)
    const { listener, watch } = await watching({ backend })
    expect(tree.watches.size).toBe(20_000)
    await watch.end()
    expect([tree.watches.size, listener.calls]).toEqual([0, 0])
  })

  test('[O8.1] [S-57 watchDirectories] past 20,000: a loss is reported, and the others are polled', async () => {
    const { backend, tree } = wide(20_001)
    const { listener, watch } = await watching({ backend, timing: fastTiming })
    await listener.until(() => listener.lost > 0)
    expect(tree.watches.size).toBe(20_000)
    tree.filled = true
    await listener.until(() => listener.changes.length > 0)
    expect([listener.changes.length, listener.lost]).toEqual([1, 1])
    await watch.end()
    expect(tree.watches.size).toBe(0)
  })

  /** A directory that seems to hold `count` names. */
  function vast(count: number): NotifyBackend {
    const names = new Map(Array.from({ length: count }, (_, i) => [`${i}`, false]))
    const openDirectory = async (path: string): Promise<OpenDirectory> => ({
      ...(await perDirectoryBackend.openDirectory(path)),
      list: async (most) => (names.size > most ? undefined : names),
    })
    return { ...perDirectoryBackend, openDirectory }
  }

  test('[S-57 watchNames] at 1,000,000: all names are known', async () => {
    const { at, listener } = await watching({ backend: vast(limits.watchNames) })
    writeFileSync(at('7'), '1')
    await listener.received('7', 'updated')
    expect(listener.lost).toBe(0)
  })

  test('[S-57 watchNames] past 1,000,000: a loss is reported, and no name is known', async () => {
    const { at, listener } = await watching({ backend: vast(limits.watchNames + 1), timing: fastTiming })
    await listener.until(() => listener.lost > 0)
    // A change during the loss itself is part of the loss, so the file is written until a change is received.
    const writing = setInterval(() => writeFileSync(at('7'), '1'), 50)
    onTestFinished(() => clearInterval(writing))
    await listener.received('7', 'added')
    expect(listener.lost).toBe(1)
  })
})
