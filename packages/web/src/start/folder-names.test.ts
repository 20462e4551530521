import { expect, test } from 'vitest'
import { listedFolder, offeredFolders } from './folder-names.ts'

const recent = ['/home/ann/atrium', '/srv/shop', '/home/ann/notes']
const inside = ['src', '.git', 'test']
const paths = (typed: string | undefined, path = '/home/ann/atrium') =>
  offeredFolders(typed, path, recent, inside).map((each) => each.path)

test('[U40.1] recent folders are offered first, then those inside, and the one above', () => {
  expect(paths(undefined)).toEqual([
    '/srv/shop',
    '/home/ann/notes',
    '/home/ann/atrium/src',
    '/home/ann/atrium/test',
    '/home/ann',
  ])
})

test('[U40.1] a folder is found by some of its letters in their order, the best fit first', () => {
  expect(paths('sho')).toEqual(['/srv/shop'])
  expect(paths('hann')).toEqual(['/home/ann/notes'])
  expect(paths('s')).toEqual([
    '/srv/shop',
    '/home/ann/atrium/src',
    '/home/ann/notes',
    '/home/ann/atrium/test',
  ])
  expect(paths('zz')).toEqual([])
})

test('[U40.1] a typed path offers what is inside, and hidden folders only after their dot', () => {
  expect(listedFolder('/srv/shop/s', '/')).toBe('/srv/shop')
  expect(listedFolder('/s', '/srv')).toBe('/')
  expect(listedFolder('s', '/srv')).toBe('/srv')
  expect(paths('/srv/shop/t')).toEqual(['/srv/shop/test'])
  expect(paths('/srv/shop/.g')).toEqual(['/srv/shop/.git'])
})
