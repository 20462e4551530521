import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refused } from '../../../host/src/ports/contracts/files-fixture.contract.ts'
import { fingerprint } from '../../test/fingerprint.ts'
import { sandbox } from '../../test/sandbox.ts'
import { nodeFiles } from './files.ts'
import { cpuMs } from '../../../host/test/load.ts'

test('[S-57 treeDepth] at 256: a directory is copied and removed', async () => {
  const { files, at, root } = deep(256)
  await files.change({ kind: 'copy', from: at('top'), to: at('copy'), failIfExists: true })
  for (const name of ['top', 'copy']) await files.change({ kind: 'remove', place: at(name), recursive: true })
  expect(readdirSync(root)).toEqual([])
})

test('[E7.1] [S-57 treeDepth] past 256: a directory is neither copied nor removed, and stays complete', async () => {
  const { files, at, root } = deep(257)
  const untouched = fingerprint(root)
  await refused(files.change({ kind: 'copy', from: at('top'), to: at('copy'), failIfExists: true }), 'unfit')
  await refused(files.change({ kind: 'remove', place: at('top'), recursive: true }), 'unfit')
  expect(fingerprint(root)).toBe(untouched)
})

// Both tests share one directory, because creating it takes longer than the tests.
describe('a crowded directory', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-files-')))
  const files = nodeFiles()
  const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
  beforeAll(() => {
    mkdirSync(`${root}/top`)
    for (let i = 0; i <= 100_000; i++) writeFileSync(`${root}/top/${i}`, '')
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test('[E7.1] [S-57 treeEntries] past 100,000: nothing is removed or copied; a list reads no further than it must', async () => {
    const [started, memory] = [cpuMs(), process.memoryUsage().rss]
    await refused(files.list(at('top'), 1000), 'unfit')
    expect(cpuMs() - started).toBeLessThan(1000)
    expect(process.memoryUsage().rss - memory).toBeLessThan(50_000_000)
    await refused(files.change({ kind: 'remove', place: at('top'), recursive: true }), 'unfit')
    await refused(
      files.change({ kind: 'copy', from: at('top'), to: at('copy'), failIfExists: true }),
      'unfit',
    )
    expect(readdirSync(root)).toEqual(['top'])
    expect(await files.list(at('top'), 100_001)).toHaveLength(100_001)
  })

  test('[S-57 treeEntries] at 100,000: a directory is removed', async () => {
    rmSync(`${root}/top/0`)
    await files.change({ kind: 'remove', place: at('top'), recursive: true })
    expect(readdirSync(root)).toEqual([])
  })
})

test('[S-57 copyBytes] at 1,073,741,824: a file is copied, a directory too, and a part is changed', async () => {
  const { files, at, root } = large(1_073_741_824)
  await files.change({ kind: 'copy', from: at('top/file'), to: at('copy'), failIfExists: true })
  await files.change({ kind: 'copy', from: at('top'), to: at('copies'), failIfExists: true })
  await files.write(at('copy'), Buffer.from('x'), { mode: 'insert', position: 5 })
  const sizes = ['copy', 'copies/file'].map((name) => statSync(`${root}/${name}`))
  expect(sizes.map(({ size }) => size)).toEqual([1_073_741_825, 1_073_741_824])
  // Holes of a sparse file stay holes.
  expect(sizes.every(({ blocks }) => blocks * 512 < 10_000_000)).toBe(true)
})

test('[S-57 copyBytes] past 1,073,741,824: nothing is copied, and no part is changed', async () => {
  const { files, at, root } = large(1_073_741_825)
  await refused(
    files.change({ kind: 'copy', from: at('top/file'), to: at('copy'), failIfExists: true }),
    'unfit',
  )
  await refused(files.change({ kind: 'copy', from: at('top'), to: at('copy'), failIfExists: true }), 'unfit')
  await refused(files.write(at('top/file'), Buffer.from('x'), { mode: 'insert', position: 5 }), 'unfit')
  expect([readdirSync(root), readdirSync(`${root}/top`)]).toEqual([['top'], ['file']])
})

test('[E7] the limits count the entries and bytes of all directories of a tree', async () => {
  const { files, root } = sandbox({ limits: { treeEntries: 5, copyBytes: 10 } })
  const at = (path: string) => ({ path: `${root}/${path}`, roots: [root] })
  for (const name of ['a', 'b']) {
    mkdirSync(`${root}/top/${name}`, { recursive: true })
    writeFileSync(`${root}/top/${name}/file`, 'x'.repeat(5))
  }
  await files.change({ kind: 'copy', from: at('top'), to: at('copy'), failIfExists: true })
  writeFileSync(`${root}/copy/a/more`, 'x')
  await refused(
    files.change({ kind: 'copy', from: at('copy'), to: at('again'), failIfExists: true }),
    'unfit',
  )
  writeFileSync(`${root}/copy/a/most`, '')
  const untouched = fingerprint(root)
  await refused(files.change({ kind: 'remove', place: at('copy'), recursive: true }), 'unfit')
  expect(fingerprint(root)).toBe(untouched)
})

function room() {
  const { files, root } = sandbox()
  return { files, root, at: (path: string) => ({ path: `${root}/${path}`, roots: [root] }) }
}

/** A chain of `levels` directories; the last one holds a file. */
function deep(levels: number) {
  const all = room()
  const path = `${all.root}/top${'/d'.repeat(levels - 1)}`
  mkdirSync(path, { recursive: true })
  writeFileSync(`${path}/file`, 'x')
  return all
}

/** A sparse file of `size` bytes. */
function large(size: number) {
  const all = room()
  mkdirSync(`${all.root}/top`)
  writeFileSync(`${all.root}/top/file`, '')
  truncateSync(`${all.root}/top/file`, size)
  return all
}
