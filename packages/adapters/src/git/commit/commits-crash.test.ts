import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { bundle } from '../../../test/bundle.ts'
import { CommitRepository } from '../../../test/commits/commit-repository.ts'
import { needsGit, newFolder } from '../../../test/repository.ts'
import { gitCommits } from './commits.ts'

needsGit()

const module = await bundle('src/git/commit/commits.ts')

const child = fileURLToPath(new URL('../../../test/commits/commit-child.mjs', import.meta.url))

function commitInChild({ data, root, user }: CommitRepository, killAt: number): boolean {
  const { status, signal, stderr } = spawnSync(process.execPath, [child], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      MODULE: module,
      FOLDER: data,
      DIRECTORY: root,
      HOME: user.home,
      KILL_AT: String(killAt),
    },
  })
  if (status !== 0 && signal !== 'SIGKILL') throw new Error(stderr)
  return signal === 'SIGKILL'
}

test('[O45] a host that is killed has committed or at most staged, loses nothing that is staged, and blocks nobody', async () => {
  const repository = new CommitRepository()
  const { root, data, user } = repository
  for (const path of ['a', 'b', 'c']) repository.put(path, `${path}\n`)
  await repository.commit()
  repository.put('b', 'staged\n')
  repository.git('add', 'b')
  repository.put('a', 'by the host\n')
  repository.put('c', 'a person is typing\n')
  const saved = join(newFolder(), 'saved')
  cpSync(root, saved, { recursive: true })
  mkdirSync(data)
  const seen = new Set<string>()
  let steps = 0
  for (let killed = true; killed;) {
    rmSync(root, { recursive: true })
    cpSync(saved, root, { recursive: true })
    killed = commitInChild(repository, ++steps)
    await gitCommits({ folder: data, user }).recover()
    expect(readdirSync(join(root, '.git')).filter((name) => /atrium|index\.lock/.test(name))).toEqual([])
    expect(readdirSync(data)).toEqual([])
    const message = repository.git('log', '-1', '--format=%s')
    seen.add(`${message}: ${repository.status().join()}`)
    // What the user does next works.
    repository.git('add', 'c')
  }
  repository.git('fsck', '--no-dangling')
  expect([...seen].toSorted()).toEqual([
    // The line of an unstaged change begins with a space, which the output of the test has lost.
    'by the host: M  b, M c',
    'x: M  a,M  b, M c',
    'x: M a,M  b, M c',
  ])
})

test('[O45] a lock of the user is not removed, also if the host has left a note', async () => {
  const repository = new CommitRepository()
  repository.put('a', '1')
  await repository.commit()
  const git = join(repository.root, '.git')
  writeFileSync(join(git, 'index.lock'), 'of the user')
  cpSync(join(git, 'index'), join(git, 'atrium-index-0123456789abcdef'))
  await repository.commits.recover()
  mkdirSync(repository.data)
  const note = (name: string) => {
    writeFileSync(join(repository.data, 'n.json'), JSON.stringify({ gitDir: git, name }))
  }
  for (const name of ['atrium-index-0123456789abcdef', '../../etc', 'config', '']) {
    note(name)
    await repository.commits.recover()
    expect(readFileSync(join(git, 'index.lock'), 'utf8')).toBe('of the user')
    expect(existsSync(join(git, 'config'))).toBe(true)
  }
  expect(existsSync(join(git, 'atrium-index-0123456789abcdef'))).toBe(false)
  rmSync(join(git, 'index.lock'))
  cpSync(join(git, 'index'), join(git, 'atrium-index-0123456789abcdef'))
  linkSync(join(git, 'atrium-index-0123456789abcdef'), join(git, 'index.lock'))
  note('atrium-index-0123456789abcdef')
  await repository.commits.recover()
  expect(existsSync(join(git, 'index.lock'))).toBe(false)
})
