import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { taking } from '../../../host/src/ports/contracts/captures.contract.ts'
import { DiskFolder, DiskRepository } from '../../test/captures/folder.ts'
import { needsGit } from '../../test/repository.ts'

/** The paths that differ between captures before and after new versions of a source and of an installed package. */
async function changedIn(folder: DiskFolder): Promise<readonly string[]> {
  const take = async () => (await folder.captures.take(folder.directory, taking())).id
  const write = async (text: string) => {
    for (const path of ['main.js', 'node_modules/a/index.js', 'deep/node_modules/b/index.js'])
      await folder.write(path, text)
  }
  await write('one\n')
  const before = await take()
  await write('second\n')
  return (await folder.captures.compare(before, await take())).map(({ path }) => path)
}

const all = ['deep/node_modules/b/index.js', 'main.js', 'node_modules/a/index.js']

describe('[O17] [O17.1] installed packages', () => {
  needsGit()

  test('are left out in a folder without a repository', async () => {
    expect(await changedIn(new DiskFolder())).toEqual(['main.js'])
  })

  test('are captured in a folder without a repository whose `.gitignore` says so', async () => {
    const folder = new DiskFolder()
    await folder.write('.gitignore', '!node_modules/\n')
    expect(await changedIn(folder)).toEqual(all)
  })

  test('are captured in a repository that does not ignore them', async () => {
    expect(await changedIn(new DiskRepository())).toEqual(all)
  })

  test('are captured as soon as the folder becomes a repository', async () => {
    const folder = new DiskFolder()
    expect(await changedIn(folder)).toEqual(['main.js'])
    execFileSync('git', ['init', '-q'], { cwd: folder.directory })
    expect(await changedIn(folder)).toEqual(all)
  })
})
