import { chownSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TestRepository, needsGit, newFolder, newUser } from '../../test/repository.ts'
import { HostileRepository } from '../../test/hostile-repository.ts'
import { gitVcs } from './git.ts'

describe('[S-41b] [O10] repositories that are accepted', () => {
  needsGit()
  test('a .git file or link to another repository is not', async () => {
    const other = new HostileRepository()
    await other.commit()
    other.git('config', 'core.fsmonitor', other.script)
    const tree = newFolder()
    writeFileSync(join(tree, '.git'), `gitdir: ${other.at('.git')}\n`)
    expect(await other.vcs.root(tree)).toBeUndefined()
    rmSync(join(tree, '.git'))
    symlinkSync(other.at('.git'), join(tree, '.git'))
    expect(await other.vcs.root(tree)).toBeUndefined()
    expect(other.ran).toBe(false)
  })

  test('linked working trees and submodules are', async () => {
    const main = new TestRepository()
    main.put('file', '1')
    await main.commit()
    const beside = join(newFolder(), 'beside')
    main.git('worktree', 'add', '-q', '-b', 'topic', beside)
    expect(await main.vcs.root(beside)).toBe(beside)
    writeFileSync(join(beside, 'new'), '1')
    expect(await main.vcs.status(beside)).toMatchObject({
      branch: 'topic',
      changes: [{ path: 'new', type: 'added' }],
    })
    const outer = new TestRepository()
    outer.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', main.root, 'inner')
    expect(await main.vcs.root(outer.at('inner'))).toBe(outer.at('inner'))
    expect(await main.vcs.status(outer.at('inner'))).toMatchObject({ branch: 'main', changes: [] })
    expect((await main.vcs.files(outer.root, 10)).toSorted()).toEqual(['.gitmodules'])
    expect(await main.vcs.ignored(outer.root, ['inner/file', 'x'])).toEqual(new Set())
  })

  test('a bare repository inside another one is not', async () => {
    const hostile = new HostileRepository()
    await hostile.commit()
    const bare = hostile.at('sub/bare')
    cpSync(hostile.at('.git'), bare, { recursive: true })
    writeFileSync(
      join(bare, 'config'),
      `[core]\n\tbare = true\n\tworktree = .\n\tfsmonitor = ${hostile.script}\n`,
    )
    expect(await hostile.vcs.root(bare)).toBe(hostile.root)
    await hostile.vcs.status(hostile.root)
    const alone = newFolder()
    cpSync(bare, alone, { recursive: true })
    expect(await hostile.vcs.root(alone)).toBeUndefined()
    expect(hostile.ran).toBe(false)
  })

  test('an empty .git directory is not; the repository above it is', async () => {
    const repository = new TestRepository()
    mkdirSync(repository.at('a/.git'), { recursive: true })
    expect(await repository.vcs.root(repository.at('a'))).toBe(repository.root)
  })

  test('a repository of another user is not, unless safe.directory allows it', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('not root')
    const repository = new TestRepository()
    for (const path of ['', '.git']) {
      chownSync(repository.at(path), 12_345, 12_345)
      expect(await repository.vcs.root(repository.root)).toBeUndefined()
      await expect(repository.vcs.status(repository.root)).rejects.toThrow()
      const trusting = (path: string) => gitVcs({ user: newUser(`[safe]\n\tdirectory = ${path}\n`) })
      expect(await trusting('*').root(repository.root)).toBe(repository.root)
      expect(await trusting(repository.root).root(repository.root)).toBe(repository.root)
      expect(await trusting(`${repository.root}/x`).root(repository.root)).toBeUndefined()
      expect(await trusting(`*\n\tdirectory =`).root(repository.root)).toBeUndefined()
      chownSync(repository.at(path), 0, 0)
    }
  })
})
