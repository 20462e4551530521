import { describe, expect, test } from 'vitest'
import type { Vcs } from '../vcs.ts'

/** A new repository without a commit, and operations on it. Paths are relative to the repository's root. */
export interface Checkout {
  readonly root: string
  readonly vcs: Vcs
  write(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
  /** Commits all files that are not ignored. Returns the name of the commit. */
  commit(): Promise<string>
  /** Makes version control ignore files of this name in every directory. */
  ignore(name: string): Promise<void>
  branch(name: string): Promise<void>
  remote(url: string): Promise<void>
  /** Gives the current branch an upstream at this commit. Returns the name of the upstream. */
  follow(commit: string): Promise<string>
}

/** The suite that every adapter of `Vcs` passes. `elsewhere` returns a directory outside any repository. */
export function vcsContract(
  name: string,
  open: () => Promise<Checkout>,
  elsewhere: () => Promise<{ readonly path: string; readonly vcs: Vcs }>,
): void {
  describe(`${name}: version control`, () => {
    test('[O10] the root of a working tree is found from any directory in it, and from no other', async () => {
      const { root, vcs, write } = await open()
      await write('a/b/file', '1')
      for (const path of [root, `${root}/a`, `${root}/a/b`]) expect(await vcs.root(path)).toBe(root)
      const none = await elsewhere()
      expect(await none.vcs.root(none.path)).toBeUndefined()
      expect(await vcs.root(`${root}/no/such`)).toBeUndefined()
      await expect(none.vcs.status(none.path)).rejects.toThrow()
    })

    test('[O35] the git directories of a working tree are outside its own files', async () => {
      const { root, vcs, write, commit } = await open()
      await write('file', '1')
      await commit()
      const found = await vcs.gitDirectories(root)
      expect(found.length).toBeGreaterThan(0)
      for (const path of found) expect(await vcs.files(root, 10)).not.toContain(path.slice(root.length + 1))
      const none = await elsewhere()
      await expect(none.vcs.gitDirectories(none.path)).rejects.toThrow()
    })

    test('[O11] before the first commit there is a branch and no commit', async () => {
      const { root, vcs, write, branch } = await open()
      await branch('first')
      await write('file', '1')
      const changes = [{ path: 'file', type: 'added' }]
      expect(await vcs.status(root)).toEqual({ branch: 'first', remotes: [], changes })
    })

    test('[O11] files that differ from the commit are listed, each once', async () => {
      const { root, vcs, write, remove, commit, ignore } = await open()
      await ignore('junk')
      for (const path of ['same', 'changed', 'gone', 'deep/er/changed']) await write(path, '1')
      const head = await commit()
      expect((await vcs.status(root)).changes).toEqual([])
      await write('changed', '2')
      await write('deep/er/changed', '22')
      await remove('gone')
      await write('new/one', '1')
      await write('new/junk', '1')
      const status = await vcs.status(root)
      expect(status.commit).toBe(head)
      expect(status.changes.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
        { path: 'changed', type: 'updated' },
        { path: 'deep/er/changed', type: 'updated' },
        { path: 'gone', type: 'deleted' },
        { path: 'new/one', type: 'added' },
      ])
    })

    test('[O11] the upstream of a branch, and the number of commits ahead and behind', async () => {
      const { root, vcs, write, commit, follow, branch } = await open()
      await branch('topic/ünï-"x"')
      await write('file', '1')
      const first = await commit()
      expect(await vcs.status(root)).not.toHaveProperty('upstream')
      const upstream = await follow(first)
      await write('file', '2')
      await commit()
      await write('file', '3')
      const head = await commit()
      expect(await vcs.status(root)).toMatchObject({
        branch: 'topic/ünï-"x"',
        commit: head,
        upstream,
        ahead: 2,
        behind: 0,
      })
    })

    test('[O11] remotes are listed without credentials', async () => {
      const { root, vcs, remote } = await open()
      await remote('https://user:secret@example.org:8443/a/b.git?token=secret')
      await remote('ssh://me:secret@example.org/c.git')
      await remote('me@example.org:d/e@f.git')
      await remote('/srv/a@b:c.git')
      expect((await vcs.status(root)).remotes.toSorted()).toEqual([
        '/srv/a@b:c.git',
        'example.org:d/e@f.git',
        'https://example.org:8443/a/b.git',
        'ssh://example.org/c.git',
      ])
    })

    test('[O12] ignored paths are recognized, whatever characters they contain', async () => {
      const { root, vcs, write, commit, ignore } = await open()
      await ignore('junk')
      await write('kept', '1')
      await commit()
      const paths = [
        'junk',
        'a/junk',
        'kept',
        'junk2',
        '-junk',
        '--upload-pack=x',
        ':(glob)junk',
        ':(top)junk',
        'a\nb/junk',
        '../junk',
      ]
      expect(await vcs.ignored(root, [...paths, '', '/junk', '/etc/junk', 'a\0junk', '"/junk'])).toEqual(
        new Set(['junk', 'a/junk', 'a\nb/junk', '"/junk']),
      )
      expect(await vcs.ignored(root, [])).toEqual(new Set())
    })

    test('[O13] the files of a tree are those that exist and are not ignored, up to a maximum', async () => {
      const { root, vcs, write, remove, commit, ignore } = await open()
      await ignore('junk')
      for (const path of ['a', 'b/c', 'gone']) await write(path, '1')
      const before = (await vcs.files(root, 100)).length - 3
      await commit()
      await remove('gone')
      await write('b/new', '1')
      await write('b/junk', '1')
      const files = await vcs.files(root, 100)
      expect(
        files.filter((path) => ['a', 'b/c', 'b/new', 'b/junk', 'gone'].includes(path)).toSorted(),
      ).toEqual(['a', 'b/c', 'b/new'])
      expect(files.length).toBe(before + 3)
      expect((await vcs.files(root, 2)).length).toBe(2)
      expect(await vcs.files(root, 0)).toEqual([])
    })
  })
}
