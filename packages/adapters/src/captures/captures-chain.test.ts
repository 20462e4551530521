import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { taking, textOf } from '../../../host/src/ports/contracts/captures.contract.ts'
import { DiskRepository } from '../../test/captures/folder.ts'
import { needsGit } from '../../test/repository.ts'
import { seeded } from '../../../protocol/test/seeded.ts'

needsGit()

/** A repository, a function that captures it, and one that returns the files of its store. */
function opened() {
  const folder = new DiskRepository()
  const { captures, directory, data } = folder
  const take = async () => (await captures.take(directory, taking())).id
  const store = () => join(data, readdirSync(data).find((name) => /^[\da-f]{24}$/.test(name)) ?? '')
  /** What two captures differ by, as the next run of the host sees it. */
  const pathsOf = async (before: string, after: string) =>
    (await (await folder.restart()).compare(before, after)).map(({ path }) => path)
  return { folder, captures, take, store, pathsOf, differences: () => join(store(), 'differences') }
}

const random = seeded(1)

/** Random text that compresses about as well as source code. */
function code(bytes: number): string {
  const words = 'agent action channel client state turn session reducer snapshot envelope store index'.split(
    ' ',
  )
  const word = () => words[Math.floor(random() * words.length)] ?? ''
  let text = ''
  while (text.length < bytes)
    text += `  const ${word()}${word()} = ${word()}(${Math.floor(random() * 1e6)})\n`
  return text.slice(0, bytes)
}

test.each([
  { name: 'wide folders, edited contents', all: false },
  { name: 'wide folders, new contents', all: true },
])(
  '[O24] [O24.1] a turn takes at most twice the compressed bytes of the files it changes: $name',
  async ({ all }) => {
    const { folder, take, store } = opened()
    const path = (i: number) => `part${Math.floor(i / 60)}/file${i % 60}`
    for (let i = 0; i < 600; i++) await folder.write(path(i), code(4096))
    await folder.commit()
    const bytes = () =>
      readdirSync(store(), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !['index', 'state.json'].includes(entry.name))
        .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
    for (let turn = 0; turn < 3; turn++) {
      await take()
      const before = bytes()
      let compressed = 0
      for (let i = 0; i < 20; i++) {
        const old = (await folder.text(path(turn + i * 30))) ?? ''
        const text = all ? code(4096) : old.slice(0, 1500) + code(400) + old.slice(1900)
        await folder.write(path(turn + i * 30), text)
        compressed += deflateSync(text).length
      }
      await take()
      expect(bytes() - before).toBeLessThan(2 * compressed)
    }
  },
)

test('[O24] captures of many and of few changes are compared after the user’s repository is gone', async () => {
  const { folder, take, pathsOf } = opened()
  for (const path of ['a', 'deep/b', 'deep/er/c']) await folder.write(path, `${path}\n`)
  await folder.commit()
  const first = await take()
  await folder.write('a', '2\n')
  const second = await take()
  for (let i = 0; i < 510; i++) await folder.write(`many/${i}`, `${i}\n`)
  const third = await take()
  await folder.write('deep/b', '2\n')
  const fourth = await take()
  rmSync(folder.directory, { recursive: true })
  expect(await pathsOf(first, second)).toEqual(['a'])
  expect(await pathsOf(second, third)).toHaveLength(510)
  expect(await pathsOf(first, fourth)).toHaveLength(512)
  expect(await pathsOf(fourth, second)).toHaveLength(511)
})

test('[O24] [O24.2] captures of earlier versions of the host, which are trees, are compared with each other and with new ones', async () => {
  const { folder, captures, take, store, pathsOf, differences } = opened()
  for (const path of ['a', 'deep/b', 'c']) await folder.write(path, `${path}\n`)
  await folder.commit()
  const first = await take()
  await folder.write('a', '2\n')
  const second = await take()
  await folder.commit()
  const git = (...args: string[]) => folder.repository.git(...args)
  const trees = [first, second].map((id) => id.split('.')[1] ?? '')
  const objects = git('rev-list', '--objects', '--no-object-names', ...trees)
  const pack = ['pack-objects', '-q', join(store(), 'git', 'objects', 'pack', 'pack')]
  execFileSync('git', pack, { cwd: folder.directory, input: `${objects}\n`, stdio: 'pipe' })
  rmSync(differences())
  expect(await pathsOf(first, second)).toEqual(['a'])
  const later = await folder.restart()
  await folder.write('c', '2\n')
  const third = (await later.take(folder.directory, taking())).id
  expect(await pathsOf(second, third)).toEqual(['c'])
  expect(await pathsOf(first, third)).toEqual(['a', 'c'])
  await captures.collect(new Set([first, third]))
  expect(await pathsOf(first, third)).toEqual(['a', 'c'])
  rmSync(folder.directory, { recursive: true })
  expect(await pathsOf(first, third)).toEqual(['a', 'c'])
})

test('[O16] a list of differences that a crash has torn costs no capture that was taken', async () => {
  const { folder, take, pathsOf, differences } = opened()
  await folder.write('a', '1')
  const first = await take()
  await folder.write('a', '2')
  const second = await take()
  const whole = readFileSync(differences())
  appendFileSync(differences(), whole.subarray(0, whole.length / 3))
  const again = await folder.restart()
  await folder.write('b', '1')
  const third = (await again.take(folder.directory, taking())).id
  expect(await pathsOf(first, second)).toEqual(['a'])
  expect(await pathsOf(first, third)).toEqual(['a', 'b'])
  // Without the list the last captures are lost, and the next ones are whole again.
  truncateSync(differences(), 3)
  await expect(pathsOf(first, second)).rejects.toThrow('The record of these files is damaged')
  const later = await folder.restart()
  const now = (await later.take(folder.directory, taking())).id
  await folder.write('b', '2')
  expect(await pathsOf(now, (await later.take(folder.directory, taking())).id)).toEqual(['b'])
})

test('[O22] captures between two kept ones are deleted, and the kept ones are compared as before', async () => {
  const { folder, captures, take, pathsOf } = opened()
  for (let i = 0; i < 10; i++) await folder.write(`file${i}`, code(2000))
  await folder.commit()
  const taken = [await take()]
  for (let i = 0; i < 10; i++) {
    await folder.write(`file${i}`, code(2000))
    await folder.write('always', `${i}`)
    taken.push(await take())
  }
  const [, first = '', , middle = '', , , , , last = ''] = taken
  const [dropped] = await captures.compare(taken[2] ?? '', taken[5] ?? '')
  await captures.collect(new Set([first, middle, last]))
  expect(await pathsOf(first, middle)).toEqual(['always', 'file1', 'file2'])
  expect(await pathsOf(first, last)).toHaveLength(8)
  expect(await pathsOf(last, first)).toHaveLength(8)
  const [change] = await captures.compare(first, middle)
  expect(await textOf(captures, change?.before)).toBe('0')
  await expect(captures.read(dropped?.before?.content ?? '')).rejects.toThrow(
    'The record of this content is damaged or was deleted.',
  )
})
