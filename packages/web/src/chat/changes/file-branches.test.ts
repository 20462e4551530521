import { expect, test } from 'vitest'
import { branchesOf, filesIn } from './file-branches.ts'
import type { Branch } from './file-branches.ts'

const words = (branch: Branch<string>): unknown =>
  branch.file === undefined ? { [branch.name]: branch.branches.map(words) } : branch.name

test('[U23] changed files are a tree of folders, in which lonely folders share a line', () => {
  const paths = ['z.txt', 'src/chat/form/a.ts', 'src/chat/b.ts', 'docs/deep/only.md', 'a.txt', '/etc/hosts']
  expect(branchesOf(paths.map((path) => ({ path, file: path }))).map(words)).toEqual([
    { '/etc': ['hosts'] },
    { 'docs/deep': ['only.md'] },
    { 'src/chat': [{ form: ['a.ts'] }, 'b.ts'] },
    'a.txt',
    'z.txt',
  ])
})

test('[U23] the files of a tree come in the order of the tree', () => {
  const paths = ['z.txt', 'src/b.ts', 'docs/a.md']
  expect(filesIn(branchesOf(paths.map((path) => ({ path, file: path }))))).toEqual([
    'docs/a.md',
    'src/b.ts',
    'z.txt',
  ])
})
