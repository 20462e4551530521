import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ChangeRecorder, WatchFixture } from '../../../../host/src/ports/contracts/watch.contract.ts'
import { fastTiming, newDirectory, watching } from '../../../test/watch-fixture.ts'
import { WatchedFile } from './file.ts'
import { perDirectoryBackend, backendOn } from './notify-backend.ts'
import type { NotifyBackend } from './notify-backend.ts'

/** Waits until the reported paths are the existing ones. After a loss, it lists everything again, as a client does. */
async function settled(listener: ChangeRecorder, directory: Pick<WatchFixture, 'list'>): Promise<void> {
  const there = await directory.list()
  let lost = 0
  await listener.until(() => {
    if (listener.lost > lost) {
      lost = listener.lost
      listener.paths.clear()
      for (const path of there) listener.paths.add(path)
    }
    return listener.paths.size === there.size && [...there].every((path) => listener.paths.has(path))
  })
}

describe('[F-40b.1] more events than the system keeps', () => {
  test('100,000 files created fast: all are reported, or a loss is', async () => {
    const { path, at, listener, list } = await watching()
    const child = spawn(process.execPath, ['-e', makes(100, 1000), path], { stdio: 'inherit' })
    expect(await once(child, 'exit')).toEqual([0, null])
    await settled(listener, { list })
    for (let i = 0; i < 100; i++) closeSync(openSync(at(`${i}/later`), 'w'))
    await settled(listener, { list })
    expect(listener.paths.size).toBe(100 * 1002)
  })

  test('events that the system drops are reported as a loss', async () => {
    const { path, at, listener, list } = await watching({}, (path) => mkdirSync(join(path, '0')))
    // `spawnSync` blocks the event loop, so Node reads no event meanwhile. By default the kernel keeps 16,384 events.
    expect(spawnSync(process.execPath, ['-e', makes(20, 1000), path]).status).toBe(0)
    await listener.until(() => listener.lost > 0)
    await settled(listener, { list })
    for (let i = 0; i < 20; i++) closeSync(openSync(at(`${i}/later`), 'w'))
    await settled(listener, { list })
    expect(listener.paths.size).toBe(20 * 1002)
  })

  test('dropped events are a loss even if few names had events', async () => {
    const { path, at, listener, list } = await watching({}, (path) => mkdirSync(join(path, 'there')))
    // The writes alternate between two files, because the kernel merges equal successive events. The last events are dropped.
    const script = `
      const { mkdirSync, openSync, writeSync } = require('node:fs')
      const files = ['one', 'two'].map((name) => openSync(process.argv[1] + '/' + name, 'w'))
      for (let i = 0; i < 40000; i++) writeSync(files[i % 2], 'x')
      mkdirSync(process.argv[1] + '/late/deep', { recursive: true })
      mkdirSync(process.argv[1] + '/there/late')`
    expect(spawnSync(process.execPath, ['-e', script, path]).status).toBe(0)
    await listener.until(() => listener.lost > 0)
    await settled(listener, { list })
    for (const folder of ['late/deep', 'there/late']) writeFileSync(at(`${folder}/heard`), '1')
    await listener.until(() =>
      ['late/deep/heard', 'there/late/heard'].every((path) => listener.has(path, 'added')),
    )
    expect(listener.lost).toBe(1)
  })

  const makes = (folders: number, files: number) => `
    const { closeSync, mkdirSync, openSync } = require('node:fs')
    for (let i = 0; i < ${folders}; i++) {
      mkdirSync(process.argv[1] + '/' + i, { recursive: true })
      for (let j = 0; j < ${files}; j++) closeSync(openSync(process.argv[1] + '/' + i + '/' + j, 'w'))
    }`
})

describe('[F-40b.1] [O8] [O8.1] fewer watches than directories', () => {
  /** A system that allows `room.left` more watches. */
  function limited(room: { left: number }, code = 'ENOSPC'): NotifyBackend {
    return {
      ...perDirectoryBackend,
      watch(at, listener) {
        if (room.left <= 0) throw Object.assign(new Error(code), { code })
        room.left--
        return perDirectoryBackend.watch(at, listener)
      },
    }
  }

  test.each(['ENOSPC', 'EMFILE'])(
    '%s: watched directories report at once, the others after a poll',
    async (code) => {
      const room = { left: 1 }
      const { at, listener } = await watching(
        { backend: limited(room, code), timing: fastTiming },
        (path) => {
          mkdirSync(join(path, 'a/b'), { recursive: true })
          for (const name of ['a/old', 'a/gone', 'a/b/old']) writeFileSync(join(path, name), '1')
        },
      )
      await listener.until(() => listener.lost > 0)
      // A poll runs beside these changes. So each file comes by a move: a poll may see a file between its creation
      // and its text, and then reports the file twice.
      const aside = (await newDirectory()).path
      for (const [name, text] of [['top', '1'] as const, ['new', '1'] as const, ['old', '22'] as const])
        writeFileSync(join(aside, name), text)
      renameSync(join(aside, 'top'), at('top'))
      renameSync(join(aside, 'new'), at('a/new'))
      renameSync(join(aside, 'old'), at('a/b/old'))
      rmSync(at('a/gone'))
      await listener.until(() => ['top', 'a/new'].every((path) => listener.has(path, 'added')))
      await listener.until(() => listener.has('a/b/old', 'updated') && listener.has('a/gone', 'deleted'))
      expect(listener.changes.length).toBe(4)
      expect(listener.lost).toBe(1)
      mkdirSync(at('c/d'), { recursive: true })
      writeFileSync(at('c/d/e'), '1')
      await listener.received('c/d/e', 'added')
    },
  )

  test('when watches are available again, all directories are watched', async () => {
    const room = { left: 1 }
    const { at, listener } = await watching({ backend: limited(room), timing: fastTiming }, (path) =>
      mkdirSync(join(path, 'a/b'), { recursive: true }),
    )
    await listener.until(() => listener.lost > 0)
    room.left = 10
    writeFileSync(at('a/b/1'), '1')
    await listener.received('a/b/1', 'added')
    writeFileSync(at('a/b/2'), '1')
    await listener.received('a/b/2', 'added')
    expect(room.left).toBe(8)
    expect(listener.lost).toBe(1)
  })

  test('[O8.2] a network file system is polled as well', async () => {
    const backend: NotifyBackend = {
      ...perDirectoryBackend,
      reliable: false,
      watch: () => ({ close: () => {} }),
    }
    const { at, listener } = await watching({ backend, timing: fastTiming }, (path) =>
      writeFileSync(join(path, 'old'), '1'),
    )
    await listener.until(() => listener.lost > 0)
    mkdirSync(at('a/b'), { recursive: true })
    writeFileSync(at('a/b/new'), '1')
    await listener.received('a/b/new', 'added')
    writeFileSync(at('old'), '22')
    await listener.received('old', 'updated')
    expect([0x6969, 0x01021997, 0x65735546, 0xff534d42].map((type) => backendOn(type).reliable)).toEqual(
      Array(4).fill(false),
    )
    expect([0xef53, 0x01021994, 0x794c7630, 0].every((type) => backendOn(type).reliable)).toBe(true)
  })

  test('an unreadable directory is reported, and its entries when it becomes readable', async () => {
    const denied = { is: true }
    const openDirectory = (path: string) =>
      denied.is && path.endsWith('/shut')
        ? Promise.reject(Object.assign(new Error('shut'), { code: 'EACCES' }))
        : perDirectoryBackend.openDirectory(path)
    const { at, listener } = await watching({ backend: { ...perDirectoryBackend, openDirectory } }, (path) =>
      mkdirSync(join(path, 'shut')),
    )
    writeFileSync(at('shut/old'), '1')
    writeFileSync(at('file'), '1')
    await listener.received('file', 'added')
    expect(listener.changes.length).toBe(1)
    denied.is = false
    chmodSync(at('shut'), 0o700)
    await listener.received('shut/old', 'added')
    denied.is = true
    chmodSync(at('shut'), 0o711)
    await listener.received('shut/old', 'deleted')
    expect(listener.lost).toBe(0)
  })

  test('a directory that cannot be opened for lack of descriptors is read later', async () => {
    let full = false
    const backend: NotifyBackend = {
      ...perDirectoryBackend,
      openDirectory: (path) =>
        full && path.endsWith('/a')
          ? Promise.reject(Object.assign(new Error('full'), { code: 'EMFILE' }))
          : perDirectoryBackend.openDirectory(path),
    }
    const { at, listener } = await watching({ backend, timing: fastTiming }, (path) =>
      mkdirSync(join(path, 'a')),
    )
    full = true
    writeFileSync(at('a/1'), '1')
    await listener.until(() => listener.lost > 0)
    full = false
    await listener.received('a/1', 'added')
  })
})

test('[O8] a path that has become a directory, or is gone, leaves no watch of the system behind', async () => {
  const { at } = await watching({}, (path) => mkdirSync(join(path, 'folder')))
  for (const path of [at('folder'), at('gone')]) {
    let open = 0
    const backend: NotifyBackend = {
      ...perDirectoryBackend,
      watchFile: () => {
        open++
        return { close: () => void open-- }
      },
    }
    expect(await WatchedFile.open(path, backend, () => {})).toBeUndefined()
    expect(open).toBe(0)
  }
})
