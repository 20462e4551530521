import { chmodSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { amply, taking } from '../../../host/src/ports/contracts/captures.contract.ts'
import { DiskRepository } from '../../test/captures/folder.ts'
import { needsGit, newFolder } from '../../test/repository.ts'
import { gitCaptures } from './captures.ts'

needsGit()

/** A whole number of seconds, which `utimes` sets without rounding. */
const wholeSecond = 1_700_000_000

/** A repository whose captures are taken by a git that is counted. */
async function counted() {
  const folder = new DiskRepository()
  for (const path of ['a', 'b/c', 'run.sh']) await folder.write(path, `${path}\n`)
  utimesSync(folder.at('a'), wholeSecond, wholeSecond)
  await folder.commit()
  const programs = newFolder()
  const runs = join(programs, 'runs')
  const path = process.env['PATH'] ?? ''
  writeFileSync(runs, '')
  writeFileSync(join(programs, 'git'), `#!/bin/sh\necho "$@" >>'${runs}'\nPATH='${path}' exec git "$@"\n`)
  chmodSync(join(programs, 'git'), 0o755)
  const captures = gitCaptures({
    folder: folder.data,
    user: folder.user,
    path: `${programs}${delimiter}${path}`,
  })
  const count = () => readFileSync(runs, 'utf8').split('\n').length
  const take = async (more = {}) => {
    const before = count()
    const capture = await captures.take(folder.directory, taking(more))
    return { ...capture, runs: count() - before }
  }
  /** Takes captures until the newest file is so old that none needs git any more. */
  const settle = (more = {}) =>
    vi.waitFor(
      async () => {
        const capture = await take(more)
        expect(capture.runs).toBe(0)
        return capture
      },
      { timeout: 200_000 },
    )
  return { folder, captures, take, settle }
}

test('[O25] a small folder that has not changed is captured without git', async () => {
  const { folder, take, settle } = await counted()
  const first = await take()
  expect(first.runs).toBeGreaterThan(0)
  expect(await settle()).toMatchObject({ id: first.id, bytes: 0 })
  // The commit is another one, and the files are the same.
  folder.repository.git('commit', '-q', '--allow-empty', '-m', 'empty')
  expect((await take()).id).toBe(first.id)
})

test('[O30] a capture that an agent waits for asks the disk at once, as soon as git is known', async () => {
  const { folder, captures, take } = await counted()
  await take()
  const asked = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('FSReq')).length
  const before = asked()
  const taken = captures.take(folder.directory, taking())
  expect(asked()).toBe(before + 1)
  await taken
})

test('[O25] a folder that could not be read once is looked at again', async () => {
  const { folder, take, settle } = await counted()
  await settle()
  // A name that is not valid text cannot be compared.
  const odd = Buffer.concat([Buffer.from(`${folder.directory}/`), Buffer.from([0xff])])
  writeFileSync(odd, '')
  expect((await take()).runs).toBeGreaterThan(0)
  rmSync(odd)
  await settle()
})

test.each<readonly [string, (folder: DiskRepository) => unknown, readonly string[]]>([
  [
    'another content of the same length, with the old times',
    async ({ directory }) => {
      const path = join(directory, 'a')
      // Git compares whole seconds.
      await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(statSync(path).ctimeMs + 1100), 10_000)
      writeFileSync(path, 'A\n')
      utimesSync(path, wholeSecond, wholeSecond)
    },
    ['a'],
  ],
  ['a new file', ({ repository }) => void repository.put('b/new', ''), ['b/new']],
  ['a deleted file', ({ repository }) => void repository.remove('b/c'), ['b/c']],
  ['a renamed file', ({ repository }) => void repository.git('mv', 'a', 'z'), ['z']],
  ['a program', ({ directory }) => chmodSync(join(directory, 'run.sh'), 0o755), ['run.sh']],
  ['an ignored file', ({ repository }) => void repository.put('.gitignore', 'a\n'), ['.gitignore']],
  [
    'another list of ignored files',
    ({ repository }) => {
      repository.git('rm', '-q', '--cached', 'a')
      repository.put('.git/info/exclude', 'a\n')
    },
    ['a'],
  ],
])('[O25] the next capture has %s', async (_, change, paths) => {
  const { folder, captures, take, settle } = await counted()
  await take()
  const before = await settle()
  await change(folder)
  const after = await take()
  const changes = await captures.compare(before.id, after.id)
  expect(changes.map(({ path }) => path)).toEqual(paths)
})

test('[O25] a file that is too large for one budget has its content in a capture with another one', async () => {
  const { folder, take, settle } = await counted()
  await folder.write('large', '0123456789')
  const small = { budget: { ...amply, fileBytes: 9 } }
  await take(small)
  expect((await settle(small)).omitted.map(({ path }) => path)).toEqual(['large'])
  expect((await take()).omitted).toEqual([])
})

test('[O25] a capture that was deleted is taken again', async () => {
  const { folder, captures, take, settle } = await counted()
  await folder.write('a', 'changed\n')
  await take()
  const { id } = await settle()
  await captures.collect(new Set())
  await captures.collect(new Set())
  expect((await take()).runs).toBeGreaterThan(0)
  await folder.write('a', 'again\n')
  const next = await take()
  expect(await captures.compare(id, next.id)).toMatchObject([{ path: 'a' }])
})
