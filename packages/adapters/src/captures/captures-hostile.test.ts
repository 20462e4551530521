import { describe, expect, test } from 'vitest'
import { taking } from '../../../host/src/ports/contracts/captures.contract.ts'
import { someOf } from '../../../protocol/test/search.ts'
import { DiskFolder, DiskRepository } from '../../test/captures/folder.ts'
import { fingerprint } from '../../test/fingerprint.ts'
import { HostileRepository, attacks } from '../../test/hostile-repository.ts'
import { openedByGit, putFifo } from '../../test/captures/odd-files.ts'
import { TestRepository, needsGit } from '../../test/repository.ts'

needsGit()

describe('[O23] [S-41b] [O23.1] a capture runs no program that the repository names', () => {
  test.each(someOf(attacks, 12))('$name', async ({ prepare }) => {
    const hostile = new HostileRepository()
    await prepare(hostile)
    const { captures, directory } = new DiskRepository(hostile)
    const take = (of: 'files' | 'head' | 'branch') =>
      captures.take(directory, taking({ of })).catch(() => undefined)
    const before = await take('files')
    hostile.touch()
    hostile.put('sub/file', '2')
    const after = await take('files')
    const head = await take('head')
    await take('branch')
    if (before && after)
      expect(await captures.compare(before.id, after.id)).toMatchObject([{ path: 'sub/file' }])
    if (head && after) await captures.compare(head.id, after.id).catch(() => {})
    expect(hostile.ran).toBe(false)
  })
})

test('[O23] nothing is written into the folder and its repository', async () => {
  const repository = new TestRepository()
  const folder = new DiskRepository(repository)
  const { captures, directory } = folder
  repository.put('a', '1')
  repository.put('deep/b', '1')
  await repository.commit()
  repository.put('a', '2')
  repository.put('new', '1')
  repository.git('status')
  const untouched = fingerprint(directory)
  const before = await captures.take(directory, taking())
  const head = await captures.take(directory, taking({ of: 'head' }))
  await captures.take(directory, taking({ of: 'branch' }))
  await captures.compare(head.id, before.id)
  await captures.collect(new Set([before.id]))
  expect(fingerprint(directory)).toBe(untouched)
})

describe('[O16.4] a FIFO in the place of a file that git opens: the capture fails with a sentence', () => {
  test.each([...openedByGit, 'sub/.gitignore', 'deep/er/.gitattributes'])('%s', async (name) => {
    const { captures, directory, repository } = new DiskRepository()
    repository.put('a', '1')
    await repository.commit()
    const before = await captures.take(directory, taking())
    putFifo(repository.at(name))
    const said = `Git is not used here: ${repository.at(name)} is a FIFO, and git would wait for it.`
    const failed = { name: 'CaptureFailed', message: expect.stringContaining(said) }
    await expect(captures.take(directory, taking())).rejects.toMatchObject(failed)
    if (!name.includes('/.git'))
      await expect(captures.take(directory, taking({ of: 'head' }))).rejects.toMatchObject(failed)
    expect(before.omitted).toEqual([])
  })

  test.each(['.gitignore', '.gitattributes'])('%s in a folder without a repository', async (name) => {
    const folder = new DiskFolder()
    putFifo(folder.at(name))
    await expect(folder.captures.take(folder.directory, taking())).rejects.toThrow(
      `${folder.at(name)} is a FIFO`,
    )
  })
})
