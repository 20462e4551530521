import { symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openedByGit, putFifo } from '../../test/captures/odd-files.ts'
import { TestRepository, needsGit, newFolder, newUser } from '../../test/repository.ts'
import { gitCommits } from './commit/commits.ts'
import { gitVcs } from './git.ts'

needsGit()

describe('[O14.5] a FIFO in the place of a file that git opens: git is not started', () => {
  test.each(openedByGit)('%s', async (name) => {
    const repository = new TestRepository()
    repository.put('a', '1')
    await repository.commit()
    const path = repository.at(name)
    putFifo(path)
    const { root, user } = repository
    // With this limit every git that is started fails in another way.
    const vcs = gitVcs({ user, limits: { vcsMs: 0, vcsBytes: 1, vcsRuns: 1 } })
    const said = `Git is not used here: ${path} is a FIFO, and git would wait for it.`
    await expect(vcs.status(root)).rejects.toThrow(said)
    await expect(vcs.files(root, 10)).rejects.toThrow(said)
    await expect(vcs.ignored(root, ['a'])).rejects.toThrow(said)
    const commits = gitCommits({ folder: newFolder(), user })
    await expect(commits.stage(root, ['a'])).rejects.toThrow(said)
  })
})

test('[O14.5] links to a FIFO and to a device are refused, links to files and to nothing are followed', async () => {
  const repository = new TestRepository()
  repository.put('a', '1')
  await repository.commit()
  const status = () => gitVcs({ user: newUser() }).status(repository.root)
  const fifo = `${newFolder()}/fifo`
  putFifo(fifo)
  for (const [target, kind] of [
    [fifo, 'a FIFO'],
    ['/dev/zero', 'a device'],
  ] as const) {
    await repository.remove('.git/info/exclude')
    symlinkSync(target, repository.at('.git/info/exclude'))
    await expect(status()).rejects.toThrow(`exclude is ${kind}`)
  }
  await repository.remove('.git/info/exclude')
  repository.put('.git/ignored', 'new\n')
  repository.put('new', '1')
  symlinkSync('../ignored', repository.at('.git/info/exclude'))
  symlinkSync('nothing', repository.at('.git/packed-refs'))
  expect((await status()).changes).toEqual([])
})
