import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openedByGit, putFifo } from '../../test/captures/odd-files.ts'
import { needsGit, newFolder } from '../../test/repository.ts'
import { WorktreeRepository } from '../../test/worktrees/repository.ts'
import { findProgram } from '../process/which.ts'
import { gitWorktrees } from './worktrees.ts'

needsGit()

const { signal } = new AbortController()

describe('[O50.3] a repository with a FIFO in the place of a file that git opens gets no worktree', () => {
  test.each(openedByGit)('%s', async (name) => {
    const repository = await committed()
    putFifo(repository.at(name))
    const { worktrees, root } = repository
    await expect(worktrees.create({ id: 'one', directory: root }, signal)).rejects.toMatchObject({
      name: 'WorktreeRefused',
      message: expect.stringContaining(`${repository.at(name)} is a FIFO, and git would wait for it.`),
    })
  })
})

test('[O50.3] a repository in which git does not end delays no worktree of another one', async () => {
  const [stuck, other] = [await committed(), await committed()]
  const gate = join(newFolder(), 'gate')
  const path = [await waitingGit(stuck.root, gate), process.env['PATH']].join(delimiter)
  const worktrees = gitWorktrees({ folder: newFolder(), path, user: stuck.user })
  const first = worktrees.create({ id: 'first', directory: stuck.root }, signal)
  const second = worktrees.create({ id: 'second', directory: stuck.root }, signal)
  expect((await worktrees.create({ id: 'other', directory: other.root }, signal)).main).toBe(other.root)
  expect(await worktrees.remove('other')).toEqual({ branchDeleted: true })
  writeFileSync(gate, '')
  expect((await Promise.all([first, second])).map(({ main }) => main)).toEqual([stuck.root, stuck.root])
})

/** Returns a folder with a `git` that waits in one working tree until the file `gate` is there. */
async function waitingGit(root: string, gate: string): Promise<string> {
  const folder = newFolder()
  const git = await findProgram('git', process.env['PATH'] ?? '')
  const lines = [
    '#!/bin/sh',
    `if [ "$GIT_WORK_TREE" = '${root}' ]; then`,
    `  while [ ! -e '${gate}' ]; do sleep 0.02; done`,
    'fi',
    `exec '${git}' "$@"`,
  ]
  writeFileSync(join(folder, 'git'), `${lines.join('\n')}\n`, { mode: 0o755 })
  return folder
}

async function committed(): Promise<WorktreeRepository> {
  const repository = new WorktreeRepository()
  repository.put('a', '1')
  await repository.commit()
  return repository
}
