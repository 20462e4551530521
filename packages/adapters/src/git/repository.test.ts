import { chownSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Repository, hasGit, newFolder, newUser } from '../../test/repository.ts'
import { Trap } from '../../test/hostile-repository.ts'
import { gitVcs } from './git.ts'

describe.runIf(hasGit)('[S-41b] [O10] what is believed to be a repository', () => {
  test('not a .git file that leads elsewhere', async () => {
    const other = new Trap()
    await other.commit()
    other.git('config', 'core.fsmonitor', other.script)
    const tree = newFolder()
    writeFileSync(join(tree, '.git'), `gitdir: ${other.at('.git')}\n`)
    expect(await other.vcs.root(tree)).toBeUndefined()
    rmSync(join(tree, '.git'))
    symlinkSync(other.at('.git'), join(tree, '.git'))
    expect(await other.vcs.root(tree)).toBeUndefined()
    expect(other.sprung).toBe(false)
  })

  test('a tree beside the main one and a submodule, for their other ends know of them', async () => {
    const main = new Repository()
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
    const outer = new Repository()
    outer.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', main.root, 'inner')
    expect(await main.vcs.root(outer.at('inner'))).toBe(outer.at('inner'))
    expect(await main.vcs.status(outer.at('inner'))).toMatchObject({ branch: 'main', changes: [] })
    expect((await main.vcs.files(outer.root, 10)).toSorted()).toEqual(['.gitmodules'])
    expect(await main.vcs.ignored(outer.root, ['inner/file', 'x'])).toEqual(new Set())
  })

  test('not one without a tree, in the middle of another', async () => {
    const trap = new Trap()
    await trap.commit()
    const bare = trap.at('sub/bare')
    cpSync(trap.at('.git'), bare, { recursive: true })
    writeFileSync(
      join(bare, 'config'),
      `[core]\n\tbare = true\n\tworktree = .\n\tfsmonitor = ${trap.script}\n`,
    )
    expect(await trap.vcs.root(bare)).toBe(trap.root)
    await trap.vcs.status(trap.root)
    const alone = newFolder()
    cpSync(bare, alone, { recursive: true })
    expect(await trap.vcs.root(alone)).toBeUndefined()
    expect(trap.sprung).toBe(false)
  })

  test('an empty .git is none, and what is above it counts', async () => {
    const repository = new Repository()
    mkdirSync(repository.at('a/.git'), { recursive: true })
    expect(await repository.vcs.root(repository.at('a'))).toBe(repository.root)
  })

  test('not one that belongs to somebody else, unless the user says that it is safe', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('not root')
    const repository = new Repository()
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
