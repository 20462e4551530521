import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Listener, everything, watchContract } from '../../../../host/src/ports/watch.contract.ts'
import { heldWatches, newYard, soon, watching } from '../../../test/watch-fixture.ts'
import { eachMeans, wholeMeans } from './notify-backend.ts'
import type { Entered } from './notify-backend.ts'
import { watchTree } from './watch.ts'

watchContract('a watch for each directory', () => newYard({ means: eachMeans }))

const watched = (prepare?: (path: string) => void) => watching({}, prepare)

test('[O9] one watch for all tells what is made, changed, moved and removed', async () => {
  const yard = await newYard({ means: wholeMeans })
  await yard.make('a/b')
  const listener = new Listener(await yard.list())
  const watch = await yard.watch('', everything, listener.tell)
  onTestFinished(() => watch.end())
  await yard.write('a/b/file', '1')
  await listener.heard('a/b/file', 'added')
  await yard.write('a/b/file', '22')
  await listener.heard('a/b/file', 'updated')
  await yard.move('a/b', 'c')
  await listener.until(() => listener.has('c/file', 'added') && listener.has('a/b/file', 'deleted'))
  await yard.remove('c')
  await listener.heard('c/file', 'deleted')
  expect(listener.paths).toEqual(await yard.list())
})

test('[O1] what happens while it begins is not told twice, and nothing is watched twice', async ({
  skip,
}) => {
  if (process.platform !== 'linux') skip('no inotify')
  const { path, at, list, listener, watch } = await slowlyWatched()
  writeFileSync(at('last'), '1')
  await listener.heard('last', 'added')
  expect(listener.paths).toEqual(await list())
  expect(heldWatches()).toBe(1 + 200)
  await watch.end()
  expect(heldWatches()).toBe(0)
  expect(readdirSync(path).length).toBe(201 + 1)
})

/** Files come while it is read for the first time, which takes longer than a window. */
async function slowlyWatched() {
  const yard = await newYard()
  const at = (name: string) => join(yard.path, name)
  for (let i = 0; i < 200; i++) mkdirSync(at(`${i}`))
  let entered = 0
  const enter = async (path: string) => {
    if (entered++ === 20) writeFileSync(at('early'), '1')
    await new Promise((resolve) => setTimeout(resolve, 5))
    return eachMeans.enter(path)
  }
  const listener = new Listener(await yard.list())
  const watch = await watchTree(yard.path, everything, listener.tell, { means: { ...eachMeans, enter } })
  onTestFinished(() => watch.end())
  return { ...yard, at, listener, watch }
}

test('[O2] [F-40b] in 1,000 trials of directories that are made and filled at once nothing is missed', async () => {
  const { path, at, list, listener } = await watched()
  const other = spawn(process.execPath, ['-e', trials(500), path], { stdio: 'inherit' })
  for (let i = 0; i < 500; i++) {
    mkdirSync(at(`mine-${i}/a/b/c`), { recursive: true })
    writeFileSync(at(`mine-${i}/a/b/c/file`), '1')
    if (i % 5 === 0) await new Promise(setImmediate)
  }
  expect(await once(other, 'exit')).toEqual([0, null])
  await listener.until(() => listener.paths.size >= 5000)
  expect(listener.paths).toEqual(await list())
  expect(listener.lost).toBe(0)
  // And each of them is listened to.
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

test('[O2] what comes in the moment after a directory was read is heard', async () => {
  const enter = async (path: string): Promise<Entered> => {
    const entered = await eachMeans.enter(path)
    const list = async (most: number) => {
      const found = await entered.list(most)
      if (path.endsWith('/new') && found?.size === 0) writeFileSync(join(path, 'just'), '1')
      return found
    }
    return { ...entered, list }
  }
  const { at, listener } = await watching({ means: { ...eachMeans, enter } })
  mkdirSync(at('new'))
  await listener.heard('new/just', 'added')
})

test('[O6] another directory in the place of what is watched is noticed, though nothing is heard of it', async () => {
  const yard = await newYard({ pace: soon })
  await yard.make('above/root/old')
  const listener = new Listener(['old'])
  const watch = await yard.watch('above/root', everything, listener.tell)
  onTestFinished(() => watch.end())
  await yard.make('other/root/new')
  await yard.move('above', 'aside')
  await yard.move('other', 'above')
  await listener.until(() => listener.has('', 'deleted') && listener.has('new', 'added'))
  await yard.write('above/root/new/file', '1')
  await listener.heard('new/file', 'added')
  expect([...listener.paths].toSorted()).toEqual(['', 'new', 'new/file'])
})

test('[O6] a file that took the place of a watched one is listened to', async () => {
  const yard = await newYard({ pace: { ...soon, beatMs: 1e8 } })
  await yard.write('file', '1')
  const listener = new Listener()
  const watch = await yard.watch('file', everything, listener.tell)
  onTestFinished(() => watch.end())
  await yard.write('other', '22')
  await yard.move('other', 'file')
  await listener.until(() => listener.of('').length === 1)
  await yard.write('file', '333')
  await listener.until(() => listener.of('').length >= 2)
  expect(new Set(listener.of(''))).toEqual(new Set(['updated']))
})

test('[O3] a directory that a link takes the place of is not looked into', async () => {
  const outside = await newYard()
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
  await listener.heard('a/deep/last', 'added')
  const told = listener.changes.map(({ path }) => path)
  expect(told.filter((path) => !['a', 'a/deep', 'a/deep/last'].includes(path))).toEqual([])
})

test.each([
  ['by handle', eachMeans],
  ['by path', wholeMeans],
])('[O3] a directory is entered where it is, and not by a link to it, %s', async (_, { enter }) => {
  const [inside, outside] = [await newYard(), await newYard()]
  await outside.make('deep')
  await inside.link('way', outside.path)
  for (const path of ['way', 'way/deep', 'no/such'])
    await expect(enter(`${inside.path}/${path}`)).rejects.toThrow()
  await inside.write('file', '1')
  await expect(enter(`${inside.path}/file`)).rejects.toThrow()
  const { list, leave } = await enter(outside.path)
  expect(await list(10)).toEqual(new Map([['deep', true]]))
  await leave()
})

test('[O3] names that are no text are told as well as they can be, and harm nothing', async ({ skip }) => {
  if (process.platform !== 'linux') skip('names are text here')
  const { path, at, listener } = await watched()
  const odd = Buffer.concat([Buffer.from(`${path}/odd-`), Buffer.from([0xff])])
  writeFileSync(odd, '1')
  for (const name of ['new\nline', '"quoted"', ' ', '\\', '-x', 'ünï𝒳']) writeFileSync(at(name), '1')
  await listener.until(() => listener.paths.size === 7)
  rmSync(odd)
  await listener.heard('odd-\ufffd', 'deleted')
  expect(listener.paths).toEqual(new Set(readdirSync(path)))
})

test('[O5] that a directory is touched says nothing about what is in it', async () => {
  const { at, listener } = await watched((path) => {
    mkdirSync(join(path, 'a/b'), { recursive: true })
    writeFileSync(join(path, 'a/b/file'), '1')
  })
  chmodSync(at('a'), 0o700)
  chmodSync(at('a/b'), 0o700)
  writeFileSync(at('a/b/last'), '1')
  await listener.heard('a/b/last', 'added')
  expect(listener.changes).toEqual([{ path: 'a/b/last', type: 'added' }])
})
