import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { needsGit } from '../../test/repository.ts'
import { WorktreeRepository, begun } from '../../test/worktrees/repository.ts'

const { signal } = new AbortController()

describe('[O51] .worktreeinclude', () => {
  needsGit()
  const prepare = (repository: WorktreeRepository) => {
    repository.put('.gitignore', '.env*\nbuild\n')
    repository.put('.worktreeinclude', '.env*\n!.env.no\na\nlink\nuntracked\n')
    repository.put('.env', 'secret')
    repository.put('deep/.env.local', 'x')
    repository.put('.env.no', 'x')
    repository.put('build/out', 'x')
    symlinkSync('/etc/passwd', repository.at('.env.link'))
  }

  test('names ignored files that are copied, and no other file', async () => {
    const { tree, repository, inTree } = await begun(prepare)
    repository.put('untracked', 'x')
    const second = await repository.worktrees.create({ id: 'two', directory: repository.root }, signal)
    for (const path of [tree, second.path]) {
      expect(readFileSync(join(path, '.env'), 'utf8')).toBe('secret')
      expect(readFileSync(join(path, 'deep/.env.local'), 'utf8')).toBe('x')
      for (const absent of ['.env.no', '.env.link', 'build', 'untracked'])
        expect(existsSync(join(path, absent)), absent).toBe(false)
    }
    expect(inTree('status', '--porcelain')).toBe('')
  })

  test('[O54] a copy that was changed keeps the worktree', async () => {
    const { worktrees, write } = await begun(prepare)
    write('.env', 'changed')
    expect((await worktrees.state('one')).copies).toEqual(['.env'])
    await expect(worktrees.remove('one')).rejects.toMatchObject({ paths: ['.env'] })
  })

  test.each([
    ['[S-57 worktreeFiles] at 10,000 files all are copied (here 2)', { worktreeFiles: 2 }, 2],
    ['[S-57 worktreeFiles] past 10,000 files the others are not copied (here 1)', { worktreeFiles: 1 }, 1],
    ['[S-57 worktreeBytes] at 1,073,741,824 bytes all are copied (here 7)', { worktreeBytes: 7 }, 2],
    ['[S-57 worktreeBytes] past 1,073,741,824 bytes files are not copied (here 6)', { worktreeBytes: 6 }, 1],
  ])('%s', async (_, limits, count) => {
    const repository = new WorktreeRepository()
    prepare(repository)
    await repository.commit()
    const wanted = { id: 'one', directory: repository.root }
    const { notes, path } = await repository.open(limits).create(wanted, signal)
    const copied = ['.env', 'deep/.env.local'].filter((name) => existsSync(join(path, name)))
    expect(copied.length).toBe(count)
    expect(notes).toEqual(
      count === 2
        ? []
        : ['1 of the files that .worktreeinclude names were not copied: they are too many or too large.'],
    )
  })

  test.each([
    ['[S-57 worktreeMs] at 600,000 ms git has its time', {}, true],
    ['[S-57 worktreeMs] past 600,000 ms git is ended (here 0)', { worktreeMs: 0 }, false],
  ])('%s', async (_, limits, works) => {
    const repository = new WorktreeRepository()
    repository.put('a', '1')
    await repository.commit()
    const creation = repository.open(limits).create({ id: 'one', directory: repository.root }, signal)
    if (works) expect((await creation).id).toBe('one')
    else await expect(creation).rejects.toThrow()
    if (!works) expect(repository.git('branch', '--list', 'atrium/one')).toBe('')
  })
})
