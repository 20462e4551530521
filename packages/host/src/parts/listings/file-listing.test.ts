import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { testWorld } from '../../../test/world.ts'
import { FileListings } from './file-listing.ts'
import type { Vcs } from '../../ports/vcs.ts'

function listings(paths: readonly string[]) {
  const files = new FakeFiles()
  for (const path of paths) files.put(path, '')
  const world = testWorld()
  const all = new FileListings({ files, vcs: undefined }, world, limits)
  const of = async (directory: string) => (await all.of(directory)).files.map(({ path }) => path)
  return { all, of, files, world }
}

test('[J3] shortest paths first; paths of equal length in alphabetical order', async () => {
  const { of } = listings(['/w/b/c', '/w/ab', '/w/a/c', '/w/z'])
  expect(await of('/w')).toEqual(['z', 'ab', 'a/c', 'b/c'])
})

test('[J3] a working tree whose path begins with the same letters is another one', async () => {
  const files = new FakeFiles()
  files.put('/wx/a', '')
  const vcs = { root: async () => '/w', files: async () => ['x/b', 'b'] } as unknown as Vcs
  const all = new FileListings({ files, vcs }, testWorld(), limits)
  expect(await all.of('/wx')).toMatchObject({ files: [{ path: 'a' }], complete: true })
})

test('[J3.1] [J3] a walk that takes too long ends with the files found so far, and is incomplete', async () => {
  const { all, files, world } = listings(['/w/a', '/w/d/b'])
  const list = files.list.bind(files)
  files.list = (place, most) => (world.advance(1000), list(place, most))
  expect(await all.of('/w')).toMatchObject({ files: [{ path: 'a' }], complete: false })
})

const many = (count: number) => Array.from({ length: count }, (_, i) => `/w/${i}`)

test('[S-57 listingFiles] at 20,000: all files', async () => {
  const { of } = listings(many(20_000))
  expect(await of('/w')).toHaveLength(20_000)
})

test('[S-57 listingFiles] past 20,000: further files are not found; directories count', async () => {
  const { of } = listings(many(20_001))
  expect(await of('/w')).toHaveLength(20_000)
  const nested = listings([...many(19_999), '/w/dir/a'])
  expect(await nested.of('/w')).not.toContain('dir/a')
})

const nested = (depth: number) => `/w/${'d/'.repeat(depth - 1)}a`

test('[S-57 listingDepth] at 16: found', async () => {
  expect(await listings([nested(16)]).of('/w')).toHaveLength(1)
})

test('[S-57 listingDepth] past 16: not found, and a cycle of links ends', async () => {
  expect(await listings([nested(17)]).of('/w')).toEqual([])
  const { of, files } = listings([])
  files.list = async () => [
    { name: 'a', type: 'file' },
    { name: 'again', type: 'directory' },
  ]
  expect(await of('/w')).toHaveLength(16)
})
