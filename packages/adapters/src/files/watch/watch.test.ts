import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  ChangeRecorder,
  everything,
  watchContract,
} from '../../../../host/src/ports/contracts/watch.contract.ts'
import { inotifyWatches, newDirectory, fastTiming, watching } from '../../../test/watch-fixture.ts'
import { perDirectoryBackend, recursiveBackend } from './notify-backend.ts'
import type { OpenDirectory } from './open-directory.ts'
import { watchTree } from './watch.ts'

watchContract('a watch for each directory', () => newDirectory({ backend: perDirectoryBackend }))

const watched = (prepare?: (path: string) => void) => watching({}, prepare)

test('[O9] a recursive watch reports creation, change, move and removal', async () => {
  const directory = await newDirectory({ backend: recursiveBackend })
  await directory.make('a/b')
  const listener = new ChangeRecorder(await directory.list())
  const watch = await directory.watch('', everything, listener.listener)
  onTestFinished(() => watch.end())
  await directory.write('a/b/file', '1')
  await listener.received('a/b/file', 'added')
  await directory.write('a/b/file', '22')
  await listener.received('a/b/file', 'updated')
  await directory.move('a/b', 'c')
  await listener.until(() => listener.has('c/file', 'added') && listener.has('a/b/file', 'deleted'))
  await directory.remove('c')
  await listener.received('c/file', 'deleted')
  expect(listener.paths).toEqual(await directory.list())
})

test('[O1] changes during the first read are reported once, and no directory is watched twice', async ({
  skip,
}) => {
  if (process.platform !== 'linux') skip('no inotify')
  const { path, at, list, listener, watch } = await slowlyWatched()
  writeFileSync(at('last'), '1')
  await listener.received('last', 'added')
  expect(listener.paths).toEqual(await list())
  expect(inotifyWatches()).toBe(1 + 200)
  await watch.end()
  expect(inotifyWatches()).toBe(0)
  expect(readdirSync(path).length).toBe(201 + 1)
})

/** A watch whose first read takes longer than a window. A file is created during that read. */
async function slowlyWatched() {
  const directory = await newDirectory()
  const at = (name: string) => join(directory.path, name)
  for (let i = 0; i < 200; i++) mkdirSync(at(`${i}`))
  let entered = 0
  const openDirectory = async (path: string) => {
    if (entered++ === 20) writeFileSync(at('early'), '1')
    await new Promise((resolve) => setTimeout(resolve, 5))
    return perDirectoryBackend.openDirectory(path)
  }
  const listener = new ChangeRecorder(await directory.list())
  const watch = await watchTree(directory.path, everything, listener.listener, {
    backend: { ...perDirectoryBackend, openDirectory },
  })
  onTestFinished(() => watch.end())
  return { ...directory, at, listener, watch }
}

test('[O2] [F-40b] 1,000 directories that are created and filled at once: no entry is missed', async () => {
  const { path, at, list, listener } = await watched()
  const other = spawn(process.execPath, ['-e', trials(500), path], { stdio: 'inherit' })
  // The other process may end before this one has created its directories.
  const ended = once(other, 'exit')
  for (let i = 0; i < 500; i++) {
    mkdirSync(at(`mine-${i}/a/b/c`), { recursive: true })
    writeFileSync(at(`mine-${i}/a/b/c/file`), '1')
    if (i % 5 === 0) await new Promise(setImmediate)
  }
  expect(await ended).toEqual([0, null])
  await listener.until(() => listener.paths.size >= 5000)
  expect(listener.paths).toEqual(await list())
  expect(listener.lost).toBe(0)
  // Each of the new directories is watched.
  for (let i = 0; i < 500; i++) writeFileSync(at(`${i % 2 ? 'mine' : 'other'}-${i}/a/b/c/later`), '1')
  await listener.until(() => listener.paths.size >= 5500)
})

const trials = (count: number) => `
  const { mkdirSync, writeFileSync } = require('node:fs')
  for (let i = 0; i < ${count}; i++) {
    const folder = process.argv[1] + '/other-' + i + '/a/b/c'
    mkdirSync(folder, { recursive: true })
    writeFileSync(folder + '/file', '1')
  }`

test('[O2] a file created right after a directory was read is reported', async () => {
  const openDirectory = async (path: string): Promise<OpenDirectory> => {
    const entered = await perDirectoryBackend.openDirectory(path)
    const list = async (most: number) => {
      const found = await entered.list(most)
      if (path.endsWith('/new') && found?.size === 0) writeFileSync(join(path, 'just'), '1')
      return found
    }
    return { ...entered, list }
  }
  const { at, listener } = await watching({ backend: { ...perDirectoryBackend, openDirectory } })
  mkdirSync(at('new'))
  await listener.received('new/just', 'added')
})

test('[O6] [F-40b.2] a directory that replaces the watched one is noticed, though the system sends no event', async () => {
  const directory = await newDirectory({ timing: fastTiming })
  await directory.make('above/root/old')
  const listener = new ChangeRecorder(['old'])
  const watch = await directory.watch('above/root', everything, listener.listener)
  onTestFinished(() => watch.end())
  await directory.make('other/root/new')
  await directory.move('above', 'aside')
  await directory.move('other', 'above')
  await listener.until(() => listener.has('', 'deleted') && listener.has('new', 'added'))
  await directory.write('above/root/new/file', '1')
  await listener.received('new/file', 'added')
  expect([...listener.paths].toSorted()).toEqual(['', 'new', 'new/file'])
})

test('[O6] [F-40b.2] a file that replaces the watched one is watched', async () => {
  const directory = await newDirectory({ timing: { ...fastTiming, pollMs: 1e8 } })
  await directory.write('file', '1')
  const listener = new ChangeRecorder()
  const watch = await directory.watch('file', everything, listener.listener)
  onTestFinished(() => watch.end())
  await directory.write('other', '22')
  await directory.move('other', 'file')
  await listener.until(() => listener.of('').length === 1)
  await directory.write('file', '333')
  await listener.until(() => listener.of('').length >= 2)
  expect(new Set(listener.of(''))).toEqual(new Set(['updated']))
})

test('[O3] a link that replaces a directory is not followed', async () => {
  const outside = await newDirectory()
  await outside.write('secret', '1')
  await outside.make('deep')
  const { at, listener } = await watched((path) => mkdirSync(join(path, 'a/deep'), { recursive: true }))
  for (let i = 0; i < 50; i++) {
    rmSync(at('a'), { recursive: true })
    symlinkSync(outside.path, at('a'))
    await new Promise(setImmediate)
    await outside.write(`deep/${i}`, '1')
    rmSync(at('a'))
    mkdirSync(at('a/deep'), { recursive: true })
  }
  writeFileSync(at('a/deep/last'), '1')
  await listener.received('a/deep/last', 'added')
  const reported = listener.changes.map(({ path }) => path)
  expect(reported.filter((path) => !['a', 'a/deep', 'a/deep/last'].includes(path))).toEqual([])
})

test.each([
  ['by descriptor', perDirectoryBackend],
  ['by path', recursiveBackend],
])(
  '[O3] a directory is opened by its real path only, not through a link, %s',
  async (_, { openDirectory }) => {
    const [inside, outside] = [await newDirectory(), await newDirectory()]
    await outside.make('deep')
    await inside.link('way', outside.path)
    for (const path of ['way', 'way/deep', 'no/such'])
      await expect(openDirectory(`${inside.path}/${path}`)).rejects.toThrow()
    await inside.write('file', '1')
    await expect(openDirectory(`${inside.path}/file`)).rejects.toThrow()
    const { list, close } = await openDirectory(outside.path)
    expect(await list(10)).toEqual(new Map([['deep', true]]))
    await close()
  },
)

test('[O3] names with invalid UTF-8 are reported with replacement characters', async ({ skip }) => {
  if (process.platform !== 'linux') skip('file names are UTF-8 on this system')
  const { path, at, listener } = await watched()
  const odd = Buffer.concat([Buffer.from(`${path}/odd-`), Buffer.from([0xff])])
  writeFileSync(odd, '1')
  for (const name of ['new\nline', '"quoted"', ' ', '\\', '-x', 'ünï𝒳']) writeFileSync(at(name), '1')
  await listener.until(() => listener.paths.size === 7)
  rmSync(odd)
  await listener.received('odd-\ufffd', 'deleted')
  expect(listener.paths).toEqual(new Set(readdirSync(path)))
})

test('[O5] a change of a directory itself is not a change of its entries', async () => {
  const { at, listener } = await watched((path) => {
    mkdirSync(join(path, 'a/b'), { recursive: true })
    writeFileSync(join(path, 'a/b/file'), '1')
  })
  chmodSync(at('a'), 0o700)
  chmodSync(at('a/b'), 0o700)
  writeFileSync(at('a/b/last'), '1')
  await listener.received('a/b/last', 'added')
  expect(listener.changes).toEqual([{ path: 'a/b/last', type: 'added' }])
})
