import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { GitRunner } from '../git/run.ts'
import { needsGit, newFolder } from '../../test/repository.ts'
import { WorktreeRepository } from '../../test/worktrees/repository.ts'
import { findRepository } from '../git/repository.ts'
import { limits } from '@atrium/protocol/limits'
import type { Difference } from './difference.ts'
import { compareFiles, partFor, replaceFiles } from './replace.ts'

/** A checkout with three files, and new versions of them: one is replaced, one deleted, one is new in a folder. */
async function comparedFiles() {
  const repository = new WorktreeRepository()
  const { root } = repository
  for (const path of ['replaced', 'deleted', 'folder/other']) repository.put(path, '1\n')
  const head = await repository.commit()
  const version = (object: string) => ({ mode: '100644', object })
  const stage = newFolder()
  mkdirSync(join(stage, 'folder'))
  for (const path of ['replaced', 'folder/new']) writeFileSync(join(stage, path), '2\n')
  const one = repository.git('rev-parse', 'HEAD:replaced')
  const two = repository.git('hash-object', '-w', join(stage, 'replaced'))
  const differences: readonly Difference[] = [
    { path: 'replaced', from: version(one), to: version(two) },
    { path: 'deleted', from: version(one) },
    { path: 'folder/new', to: version(two) },
  ]
  const files = await Promise.all(
    differences.map(async (each, i) => ({ ...each, part: await partFor(root, each.path, `x-${i}`) })),
  )
  const main = await findRepository(root)
  if (!main) throw new Error('no repository')
  const { vcsMs, vcsBytes, vcsRuns } = limits
  const git = new GitRunner('git', process.env['PATH'] ?? '', { vcsMs, vcsBytes, vcsRuns })
  const machine = { git, user: repository.user, folder: newFolder(), forbidden: [], limits }
  const compared = await compareFiles(machine, main, { files, head })
  return {
    root,
    at: (path: string) => join(root, path),
    replace: () => replaceFiles(root, { stage, files }, compared),
  }
}

describe('[O53] [O53.2] files that are replaced', () => {
  needsGit()
  test('are those that were compared', async () => {
    const { root, at, replace } = await comparedFiles()
    expect(await replace()).toEqual([])
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    expect(new Set(names.filter((name) => !name.startsWith('.git')))).toEqual(
      new Set(['folder', 'folder/new', 'folder/other', 'replaced']),
    )
    expect(readFileSync(at('replaced'), 'utf8')).toBe('2\n')
  })

  test('stay as they are if somebody changes them after they were compared', async () => {
    const { root, at, replace } = await comparedFiles()
    for (const path of ['replaced', 'deleted', 'folder/new']) writeFileSync(at(path), 'of a person\n')
    expect([...(await replace())].toSorted()).toEqual(['deleted', 'folder/new', 'replaced'])
    for (const path of ['replaced', 'deleted', 'folder/new'])
      expect(readFileSync(at(path), 'utf8')).toBe('of a person\n')
    expect(readdirSync(root).filter((name) => name.startsWith('.atrium'))).toEqual([])
  })

  test('are not written through a link, and not into a folder that is gone', async () => {
    const linked = await comparedFiles()
    const outside = newFolder()
    renameSync(linked.at('folder'), join(outside, 'folder'))
    symlinkSync(join(outside, 'folder'), linked.at('folder'))
    expect(await linked.replace()).toEqual(['folder/new'])
    expect(readdirSync(join(outside, 'folder'))).toEqual(['other'])
    const gone = await comparedFiles()
    rmSync(gone.at('folder'), { recursive: true })
    expect(await gone.replace()).toEqual(['folder/new'])
    expect(readFileSync(gone.at('replaced'), 'utf8')).toBe('2\n')
  })
})
