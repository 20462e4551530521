import { describe, expect, test } from 'vitest'
import { CommitFailed } from '../commits.ts'
import type { Commits } from '../commits.ts'

/** A new repository without a commit, and operations on it. Paths are relative to its root. */
export interface CommitFolder {
  readonly directory: string
  readonly commits: Commits
  write(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  /** The content of a path in the last commit. */
  committed(path: string): Promise<string | undefined>
  /** The message of the last commit. */
  message(): Promise<string>
  /** A folder that is in no repository. */
  readonly elsewhere: string
}

/** The suite that every adapter of `Commits` passes. */
export function commitsContract(name: string, open: () => Promise<CommitFolder>): void {
  /** A repository with three committed files. */
  const opened = async () => {
    const folder = await open()
    for (const path of ['a', 'b', 'deep/c']) await folder.write(path, `${path}\n`)
    await folder.commits.commit(folder.directory, { message: 'first', paths: ['a', 'b', 'deep/c'] })
    return folder
  }

  describe(`${name}: commits`, () => {
    test('[O41] the first commit has the files that it names, and no others', async () => {
      const { directory, commits, write, committed, message } = await open()
      await write('a', '1')
      await write('b', '2')
      expect(await commits.staged(directory)).toEqual([])
      const made = await commits.commit(directory, { message: 'A message\n\nwith ünïcode', paths: ['a'] })
      expect(made).toMatchObject({ branch: 'main', paths: ['a'] })
      expect(made.id).toMatch(/^[\da-f]{8,}$/)
      expect([await committed('a'), await committed('b')]).toEqual(['1', undefined])
      expect((await message()).trim()).toBe('A message\n\nwith ünïcode')
      expect(await commits.staged(directory)).toEqual([])
    })

    test('[O41] changed, new and deleted files are committed as they are on the disk', async () => {
      const { directory, commits, write, remove, committed } = await opened()
      await write('a', 'changed')
      await remove('b')
      await write('new/er', 'new')
      const paths = ['a', 'b', 'new/er']
      expect((await commits.commit(directory, { message: 'x', paths })).paths).toEqual(paths)
      expect(await Promise.all([...paths, 'deep/c'].map(committed))).toEqual([
        'changed',
        undefined,
        'new',
        'deep/c\n',
      ])
    })

    test('[O41] staged files are listed, unstaged again, and committed without being named', async () => {
      const { directory, commits, write, remove, committed } = await opened()
      await write('a', 'staged')
      await write('new', 'staged')
      await remove('b')
      await commits.stage(directory, ['a', 'b', 'new'])
      expect(await commits.staged(directory)).toEqual(['a', 'b', 'new'])
      await commits.unstage(directory, ['new', 'b'])
      expect(await commits.staged(directory)).toEqual(['a'])
      await write('a', 'later')
      expect((await commits.commit(directory, { message: 'x' })).paths).toEqual(['a'])
      expect([await committed('a'), await committed('b'), await committed('new')]).toEqual([
        'staged',
        'b\n',
        undefined,
      ])
      expect(await commits.staged(directory)).toEqual([])
    })

    test('[O42] what is staged and not named stays staged', async () => {
      const { directory, commits, write, committed } = await opened()
      await write('a', 'staged')
      await commits.stage(directory, ['a'])
      await write('b', 'changed')
      expect((await commits.commit(directory, { message: 'x', paths: ['b'] })).paths).toEqual(['b'])
      expect([await committed('a'), await committed('b')]).toEqual(['a\n', 'changed'])
      expect(await commits.staged(directory)).toEqual(['a'])
    })

    test('[O42] a file with a staged content of its own is not committed with another one', async () => {
      const { directory, commits, write, committed } = await opened()
      await write('a', 'staged')
      await commits.stage(directory, ['a'])
      await write('a', 'later')
      const committing = commits.commit(directory, { message: 'x', paths: ['a', 'b'] })
      await expect(committing).rejects.toThrow('a has staged changes')
      expect([await committed('a'), await commits.staged(directory)]).toEqual(['a\n', ['a']])
      await commits.stage(directory, ['a'])
      await commits.commit(directory, { message: 'x', paths: ['a'] })
      expect(await committed('a')).toBe('later')
    })

    test('[O43] nothing to commit, an empty message, odd paths and a folder without a repository are refused', async () => {
      const { directory, commits, elsewhere, write } = await opened()
      await expect(commits.commit(directory, { message: 'x' })).rejects.toThrow('nothing staged')
      await expect(commits.commit(directory, { message: 'x', paths: ['a'] })).rejects.toThrow(
        'nothing to commit',
      )
      await write('a', 'changed')
      await expect(commits.commit(directory, { message: ' \n', paths: ['a'] })).rejects.toThrow('message')
      await expect(commits.commit(directory, { message: 'a\0b', paths: ['a'] })).rejects.toThrow('message')
      for (const path of ['../x', '/etc/passwd', '.git/config', 'deep/.GIT/x', '', 'a\0b'])
        await expect(commits.stage(directory, [path])).rejects.toBeInstanceOf(CommitFailed)
      await expect(commits.stage(elsewhere, ['a'])).rejects.toThrow('no repository')
      expect(await commits.staged(elsewhere)).toEqual([])
      expect(await commits.staged(directory)).toEqual([])
    })
  })
}
