import {
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasGit, needsGit } from '../../test/repository.ts'
import { begun } from '../../test/worktrees/repository.ts'

describe('[O53] applying', () => {
  needsGit()
  test('keeps modes and links, and files and folders can take the place of each other', async () => {
    const { worktrees, root, tree, inTree, repository } = await begun((made) => {
      made.put('file', 'x')
      made.put('folder/x/y', 'x')
    })
    rmSync(join(tree, 'file'))
    mkdirSync(join(tree, 'file/deep'), { recursive: true })
    writeFileSync(join(tree, 'file/deep/x'), '1')
    rmSync(join(tree, 'folder'), { recursive: true })
    writeFileSync(join(tree, 'folder'), '1')
    writeFileSync(join(tree, 'run'), '1', { mode: 0o755 })
    symlinkSync('a', join(tree, 'link'))
    inTree('add', '-A')
    inTree('commit', '-qm', 'x')
    await worktrees.apply('one')
    expect(repository.git('status', '--porcelain')).toBe('')
    expect(readlinkSync(join(root, 'link'))).toBe('a')
    expect(repository.git('rev-parse', 'HEAD')).toBe(inTree('rev-parse', 'HEAD'))
    expect(readdirSync(root).toSorted()).toEqual(['.git', 'a', 'file', 'folder', 'link', 'run'])
  })

  test('[O53.1] does not overwrite an ignored file of the main checkout', async () => {
    const { worktrees, root, inTree, write, repository } = await begun((made) =>
      made.put('.gitignore', 'mine\n'),
    )
    repository.put('mine', 'precious')
    write('mine', 'other')
    inTree('add', '-f', 'mine')
    inTree('commit', '-qm', 'x')
    await expect(worktrees.apply('one')).rejects.toThrow(/mine is in the way/)
    expect(readFileSync(join(root, 'mine'), 'utf8')).toBe('precious')
  })

  test('[O53.1] refuses a main checkout in a merge, without a branch, with a lock or a broken index', async () => {
    const { worktrees, write, repository } = await begun()
    write('a', '2\n')
    repository.put('.git/MERGE_HEAD', '')
    await expect(worktrees.apply('one')).rejects.toThrow(/in the middle of a merge/)
    rmSync(repository.at('.git/MERGE_HEAD'))
    repository.put('.git/index.lock', '')
    await expect(worktrees.apply('one')).rejects.toThrow(/Git is at work/)
    rmSync(repository.at('.git/index.lock'))
    const index = readFileSync(repository.at('.git/index'))
    writeFileSync(repository.at('.git/index'), 'broken')
    await expect(worktrees.apply('one')).rejects.toThrow(/The git index of .* cannot be read/)
    writeFileSync(repository.at('.git/index'), index)
    repository.git('checkout', '-q', '--detach')
    await expect(worktrees.apply('one')).rejects.toThrow(/has no branch checked out/)
    expect(readFileSync(repository.at('a'), 'utf8')).toBe('1\n')
  })

  test('[O53.1] refuses nested repositories, submodules and files with filters', async () => {
    const { worktrees, write, tree, inTree, repository } = await begun((made) =>
      made.put('.gitattributes', '*.bin filter=lfs\n'),
    )
    write('x.bin', 'large')
    await expect(worktrees.apply('one')).rejects.toThrow(/needs the filter "lfs"/)
    rmSync(join(tree, 'x.bin'))
    repository.gitIn(tree, 'init', '-q', 'nested')
    writeFileSync(join(tree, 'nested/x'), '1')
    await expect(worktrees.apply('one')).rejects.toThrow(/nested\/ is a repository of its own/)
    await expect(worktrees.remove('one')).rejects.toMatchObject({ paths: ['nested/'] })
    rmSync(join(tree, 'nested'), { recursive: true })
    inTree('update-index', '--add', '--cacheinfo', `160000,${inTree('rev-parse', 'HEAD')},module`)
    inTree('commit', '-qm', 'x')
    await expect(worktrees.apply('one')).rejects.toThrow(/"module" is a submodule/)
  })

  test('[O53.1] leaves no object in the repository when the changes conflict', async () => {
    const { worktrees, write, repository } = await begun()
    repository.put('a', '2\n')
    await repository.commit()
    write('a', '3\n')
    const before = repository.git('count-objects')
    await expect(worktrees.apply('one')).rejects.toThrow(/conflict/)
    expect(repository.git('count-objects')).toBe(before)
    expect(repository.git('fsck', '--unreachable')).toBe('')
  })
})

describe('[O53] [O53.1] a main checkout that is gone', () => {
  needsGit()
  test('or that is another repository now, is refused with a sentence, and nothing changes', async () => {
    const { worktrees, write, repository, root, tree } = await begun()
    write('a', '2\n')
    const elsewhere = `${root}-moved`
    renameSync(root, elsewhere)
    const gone = `The folder ${root} is not there any more.`
    await expect(worktrees.apply('one')).rejects.toThrow(gone)
    await expect(worktrees.state('one')).rejects.toThrow(gone)
    await expect(worktrees.remove('one')).rejects.toThrow(gone)
    mkdirSync(root)
    await expect(worktrees.apply('one')).rejects.toThrow('is in no git repository')
    // A repository around the folder, or another one in its place, is not the one that the worktree began from.
    repository.gitIn(join(root, '..'), 'init', '-q')
    await expect(worktrees.apply('one')).rejects.toThrow('is not the repository any more')
    repository.gitIn(root, 'init', '-q')
    await expect(worktrees.apply('one')).rejects.toThrow('is not the repository any more')
    await expect(worktrees.remove('one')).rejects.toThrow('is not the repository any more')
    expect(readdirSync(root)).toEqual(['.git'])
    expect(readFileSync(join(tree, 'a'), 'utf8')).toBe('2\n')
    rmSync(root, { recursive: true })
    rmSync(join(root, '../.git'), { recursive: true })
    renameSync(elsewhere, root)
    expect(await worktrees.apply('one')).toMatchObject({ files: ['a'] })
  })

  test('[O55] [O55.2] is reported by a recovery, which finishes the others', async () => {
    const { worktrees, write, repository, root } = await begun()
    write('a', '2\n')
    repository.put('.git/refs/heads/main.lock', '')
    await expect(worktrees.apply('one')).rejects.toThrow('could not move its branch')
    rmSync(repository.at('.git/refs/heads/main.lock'))
    repository.put('.git/MERGE_HEAD', '')
    const main = root
    expect(await repository.open().recover()).toEqual([
      { id: 'one', main, problem: `${root} is in the middle of a merge. Finish or abort it first.` },
    ])
    rmSync(repository.at('.git/MERGE_HEAD'))
    renameSync(root, `${root}-moved`)
    expect(await repository.open().recover()).toEqual([
      { id: 'one', main, problem: `The folder ${root} is not there any more.` },
    ])
    renameSync(`${root}-moved`, root)
    expect(await repository.open().recover()).toMatchObject([{ id: 'one', left: [] }])
  })
})

test('[O54] a removed worktree leaves no folder, no branch and no record', async ({ skip }) => {
  skip(!hasGit, 'no git')
  const { worktrees, repository } = await begun()
  expect(await worktrees.remove('one')).toEqual({ branchDeleted: true })
  expect(readdirSync(join(repository.folder, 'trees'))).toEqual([])
  expect(readdirSync(repository.folder)).toEqual(['trees'])
  expect(repository.git('branch', '--list', 'atrium/*')).toBe('')
})

describe('[O55] an application that was interrupted', () => {
  needsGit()
  /** Stops after the files: git cannot move the branch. */
  async function stopped() {
    const made = await begun((repository) => {
      for (const name of ['b', 'c', 'gone']) repository.put(name, '1\n')
    })
    const { repository, worktrees, tree, inTree, write } = made
    for (const name of ['a', 'b', 'c', 'new']) write(name, '2\n')
    rmSync(join(tree, 'gone'))
    inTree('add', '-A')
    inTree('commit', '-qm', 'x')
    write('late', '2\n')
    repository.put('.git/refs/heads/main.lock', '')
    await expect(worktrees.apply('one')).rejects.toThrow(/could not move its branch/)
    rmSync(repository.at('.git/refs/heads/main.lock'))
    return made
  }

  test('is finished by the next start, and the work of a person stays', async () => {
    const { repository, inTree, root } = await stopped()
    // As if the host had been killed between two files.
    repository.put('a', '1\n')
    repository.put('gone', '1\n')
    rmSync(repository.at('new'))
    repository.put('c', 'of a person\n')
    const [applied, ...others] = await repository.open().recover()
    expect(others).toEqual([])
    expect(applied).toMatchObject({ left: ['c'], commit: inTree('rev-parse', 'HEAD'), uncommitted: ['late'] })
    const read = (name: string) => readFileSync(join(root, name), 'utf8')
    expect(['a', 'b', 'c', 'new', 'late'].map(read)).toEqual(['2\n', '2\n', 'of a person\n', '2\n', '2\n'])
    expect(repository.git('status', '--porcelain')).toBe('M c\n?? late')
    expect(await repository.open().recover()).toEqual([])
    expect(readdirSync(repository.folder).filter((name) => !/^(one\.json|trees)$/.test(name))).toEqual([])
  })

  test('[O55.2] is finished by applying again', async () => {
    const { repository, worktrees } = await stopped()
    expect(await worktrees.apply('one')).toMatchObject({ left: [] })
    expect(repository.git('status', '--porcelain')).toBe('?? late')
  })

  test('[O55.1] does not move a branch to which a person has committed', async () => {
    const { repository } = await stopped()
    repository.put('b', 'of a person\n')
    repository.git('commit', '-qam', 'mine')
    const mine = repository.git('rev-parse', 'HEAD')
    await repository.open().recover()
    expect(repository.git('rev-parse', 'HEAD')).toBe(mine)
    expect(readFileSync(repository.at('b'), 'utf8')).toBe('of a person\n')
  })
})
