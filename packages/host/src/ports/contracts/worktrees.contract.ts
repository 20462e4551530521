import { describe, expect, test } from 'vitest'
import { WorktreeRefused } from '../worktrees.ts'
import type { Worktrees } from '../worktrees.ts'

/**
 * A repository without a commit, and operations on its checkouts. The first parameter of each operation is the root of a
 * checkout.
 */
export interface WorktreeFixture {
  readonly worktrees: Worktrees
  readonly main: string
  write(root: string, path: string, text: string): Promise<void>
  remove(root: string, path: string): Promise<void>
  /** The text of a file. Undefined if the file does not exist. */
  read(root: string, path: string): Promise<string | undefined>
  /** Commits all files. Returns the commit. */
  commit(root: string): Promise<string>
  /** The commit that is checked out. */
  head(root: string): Promise<string>
}

/** The suite that every adapter of `Worktrees` passes. */
export function worktreesContract(name: string, open: () => Promise<WorktreeFixture>): void {
  const { signal } = new AbortController()

  /** A repository with the files `a` and `b`, and a worktree of it. */
  async function begun() {
    const fixture = await open()
    const { worktrees, main, write, commit } = fixture
    await write(main, 'a', '1\n')
    await write(main, 'b', '1\n')
    const base = await commit(main)
    const worktree = await worktrees.create({ id: 'one', directory: main }, signal)
    return { ...fixture, base, worktree, tree: worktree.path }
  }

  describe(`${name}: worktrees`, () => {
    test('[O50] a worktree has the files of the commit, without uncommitted changes, and a branch', async () => {
      const { worktrees, main, write, read, commit, head } = await open()
      await write(main, 'a', '1\n')
      const base = await commit(main)
      await write(main, 'a', '2\n')
      const wanted = { id: 'one', directory: main, branch: 'topic' }
      const worktree = await worktrees.create(wanted, signal)
      expect(worktree).toMatchObject({ id: 'one', main, branch: 'topic', base, notes: [] })
      expect(worktree.directory).toBe(worktree.path)
      expect(await read(worktree.path, 'a')).toBe('1\n')
      expect(await head(worktree.path)).toBe(base)
      expect(await read(main, 'a')).toBe('2\n')
      expect(await worktrees.create(wanted, signal)).toEqual(worktree)
    })

    test('[O50] [O50.2] a branch of the same name, and a checkout without a commit, are refused', async () => {
      const { worktrees, main, write, commit } = await open()
      const create = (id: string) => worktrees.create({ id, directory: main, branch: 'topic' }, signal)
      await expect(create('one')).rejects.toThrow(/has no commit yet/)
      await write(main, 'a', '1\n')
      await commit(main)
      await create('one')
      await expect(create('two')).rejects.toThrow(/already a branch "topic"/)
      await expect(worktrees.state('two')).rejects.toThrow(WorktreeRefused)
    })

    test('[O53] commits of a worktree move the branch of the main checkout forward', async () => {
      const { worktrees, main, tree, write, remove, read, commit, head } = await begun()
      await write(tree, 'a', '2\n')
      await write(tree, 'new/c', '3\n')
      await remove(tree, 'b')
      const tip = await commit(tree)
      expect(await worktrees.state('one')).toMatchObject({ uncommitted: [], unapplied: 1 })
      const applied = await worktrees.apply('one')
      expect(applied).toMatchObject({ id: 'one', main, commit: tip, uncommitted: [], left: [] })
      expect([...applied.files].toSorted()).toEqual(['a', 'b', 'new/c'])
      expect(await head(main)).toBe(tip)
      expect([await read(main, 'a'), await read(main, 'b'), await read(main, 'new/c')]).toEqual([
        '2\n',
        undefined,
        '3\n',
      ])
      expect(await worktrees.state('one')).toMatchObject({ uncommitted: [], unapplied: 0 })
    })

    test('[O53] uncommitted changes of a worktree become uncommitted changes of the main checkout', async () => {
      const { worktrees, main, tree, base, write, read, head } = await begun()
      await write(tree, 'a', '2\n')
      await write(tree, 'c', '3\n')
      expect([...(await worktrees.state('one')).uncommitted].toSorted()).toEqual(['a', 'c'])
      const applied = await worktrees.apply('one')
      expect([...applied.uncommitted].toSorted()).toEqual(['a', 'c'])
      expect(await head(main)).toBe(base)
      expect([await read(main, 'a'), await read(main, 'c')]).toEqual(['2\n', '3\n'])
      expect(await worktrees.state('one')).toMatchObject({ uncommitted: [], unapplied: 0 })
      await write(tree, 'c', '4\n')
      expect((await worktrees.state('one')).uncommitted).toEqual(['c'])
    })

    test('[O53] changes of both sides are merged', async () => {
      const { worktrees, main, tree, write, read, commit, head } = await begun()
      await write(main, 'b', '2\n')
      const moved = await commit(main)
      await write(tree, 'a', '2\n')
      await commit(tree)
      await write(tree, 'c', '1\n')
      const { commit: merged, files, uncommitted } = await worktrees.apply('one')
      expect(await head(main)).toBe(merged)
      expect(merged).not.toBe(moved)
      expect([[...files].toSorted(), uncommitted]).toEqual([['a', 'c'], ['c']])
      expect([await read(main, 'a'), await read(main, 'b'), await read(main, 'c')]).toEqual([
        '2\n',
        '2\n',
        '1\n',
      ])
    })

    test('[O53] [O53.1] a main checkout that is not clean is refused, and nothing changes', async () => {
      const { worktrees, main, tree, base, write, read, commit, head } = await begun()
      await write(tree, 'a', '2\n')
      await commit(tree)
      await write(main, 'mine', 'x')
      await expect(worktrees.apply('one')).rejects.toMatchObject({
        message: expect.stringMatching(/has 1 uncommitted changes\. Commit or stash/),
        paths: ['mine'],
      })
      expect([await read(main, 'a'), await read(main, 'mine'), await head(main)]).toEqual(['1\n', 'x', base])
    })

    test('[O53] [O53.1] a conflict is refused with its paths, and nothing changes', async () => {
      const { worktrees, main, tree, write, read, commit, head } = await begun()
      await write(main, 'a', '2\n')
      const moved = await commit(main)
      await write(tree, 'a', '3\n')
      await write(tree, 'b', '3\n')
      await expect(worktrees.apply('one')).rejects.toMatchObject({
        message: expect.stringMatching(/conflict .* "a"\. Nothing was changed/),
        paths: ['a'],
      })
      expect([await read(main, 'a'), await read(main, 'b'), await head(main)]).toEqual(['2\n', '1\n', moved])
      expect(await read(tree, 'a')).toBe('3\n')
    })

    test('[O54] a worktree is removed only when nothing would be lost', async () => {
      const { worktrees, tree, write, read, commit } = await begun()
      await write(tree, 'c', '1\n')
      await expect(worktrees.remove('one')).rejects.toMatchObject({
        message: expect.stringMatching(/is kept, because it has 1 changed files/),
        paths: ['c'],
      })
      await commit(tree)
      await expect(worktrees.remove('one')).rejects.toThrow(/is kept, because it has 1 commits/)
      expect(await read(tree, 'c')).toBe('1\n')
      await worktrees.apply('one')
      expect(await worktrees.remove('one')).toEqual({ branchDeleted: true })
      expect(await read(tree, 'a')).toBeUndefined()
      await expect(worktrees.state('one')).rejects.toThrow(WorktreeRefused)
      expect(await worktrees.remove('one')).toEqual({ branchDeleted: false })
    })

    test('[O55] there is nothing to recover where nothing was interrupted', async () => {
      const { worktrees, tree, read } = await begun()
      expect(await worktrees.recover()).toEqual([])
      expect(await read(tree, 'a')).toBe('1\n')
    })
  })
}
