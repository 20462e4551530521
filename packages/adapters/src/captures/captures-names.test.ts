import { rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { taking } from '../../../host/src/ports/contracts/captures.contract.ts'
import { DiskFolder, DiskRepository } from '../../test/captures/folder.ts'
import { needsGit } from '../../test/repository.ts'
import { escaped, namesIn } from './objects/names.ts'

// Names of files that are no UTF-8: those of an old archive in Latin-1, for example.

const latin1 = (folder: DiskFolder, name: string) =>
  Buffer.concat([Buffer.from(`${folder.directory}/`), Buffer.from(name, 'latin1')])
const reason = 'Its name is not valid UTF-8, so it can be neither shown nor set back.'

function opened(folder: DiskFolder) {
  const { captures, directory } = folder
  const take = () => captures.take(directory, taking())
  const changes = async (change: () => unknown) => {
    const before = await take()
    await change()
    return captures.compare(before.id, (await take()).id)
  }
  return { folder, captures, take, changes }
}

/** A change as a list: what was there before, what is there now. */
const sides = (changes: Awaited<ReturnType<ReturnType<typeof opened>['changes']>>) =>
  changes.map(({ path, before, after }) => [
    path,
    before && (before.omitted ?? 'text'),
    after && (after.omitted ?? 'text'),
  ])

describe.each([
  ['a folder', () => new DiskFolder()],
  ['a repository', () => new DiskRepository()],
])('[O17] [O17.2] in %s, a file whose name is no UTF-8', (_, open) => {
  needsGit()
  test('is named when it comes, changes and goes, beside the other files that change', async () => {
    const { folder, take, changes } = opened(open())
    const bad = latin1(folder, 'caf\xe9.txt')
    await folder.write('a', '1')
    const added = await changes(async () => {
      writeFileSync(bad, 'one')
      await folder.write('a', '2')
    })
    expect(sides(added)).toEqual([
      ['a', 'text', 'text'],
      ['caf\\xe9.txt', undefined, reason],
    ])
    expect((await take()).omitted).toEqual([{ path: 'caf\\xe9.txt', reason }])
    expect((await take()).id).toBe((await take()).id)
    expect(sides(await changes(() => folder.write('a', '3')))).toEqual([['a', 'text', 'text']])
    expect(sides(await changes(() => writeFileSync(bad, 'two')))).toEqual([['caf\\xe9.txt', reason, reason]])
    expect(sides(await changes(() => rmSync(bad)))).toEqual([['caf\\xe9.txt', reason, undefined]])
    expect(sides(await changes(() => folder.write('a', '4')))).toEqual([['a', 'text', 'text']])
    expect((await take()).omitted).toEqual([])
  })

  test('stays named if many files have changed with it, and is gone when it is gone', async () => {
    const { folder, changes } = opened(open())
    const bad = latin1(folder, 'deep\xff')
    const many = async (text: string) => {
      for (let i = 0; i < 600; i++) await folder.write(`many/${i}`, text)
    }
    const added = await changes(async () => {
      await many('1')
      writeFileSync(bad, 'one')
    })
    expect([added.length, sides(added)[0]]).toEqual([601, ['deep\\xff', undefined, reason]])
    expect(await changes(() => folder.write('many/1', '2'))).toHaveLength(1)
    expect(sides(await changes(() => rmSync(bad)))).toEqual([['deep\\xff', reason, undefined]])
    expect(await changes(() => folder.write('many/1', '3'))).toHaveLength(1)
  })
})

describe('[O17] [O17.2] a tracked file whose name is no UTF-8', () => {
  needsGit()
  test('hides no other change, and is named against the commit, too', async () => {
    const made = new DiskRepository()
    const { captures, directory } = made
    const bad = latin1(made, 'caf\xe9.txt')
    writeFileSync(bad, 'one')
    await made.write('z', '1')
    await made.commit()
    const { changes, take } = opened(made)
    const head = async () =>
      captures.compare((await captures.take(directory, taking({ of: 'head' }))).id, (await take()).id)
    expect(await head()).toEqual([])
    const changed = await changes(async () => {
      writeFileSync(bad, 'two')
      await made.write('z', '2')
    })
    expect(sides(changed)).toEqual([
      ['caf\\xe9.txt', undefined, reason],
      ['z', 'text', 'text'],
    ])
    expect(sides(await head()).map(([path]) => path)).toEqual(['caf\\xe9.txt', 'z'])
    await made.commit()
    expect(sides(await head()).map(([path]) => path)).toEqual(['caf\\xe9.txt'])
    expect(sides(await changes(() => rmSync(bad)))).toEqual([['caf\\xe9.txt', reason, reason]])
  })
})

test('[O17] bytes that are no UTF-8 and control characters of a name can be read', () => {
  const raw = Buffer.from([0x61, 0xc3, 0xa9, 0xe9, 0x1b, 0x5c, 0xf0, 0x9f, 0x98, 0x80, 0xf0, 0x9f])
  expect(escaped(raw)).toBe('aé\\xe9\\x1b\\😀\\xf0\\x9f')
  const names = namesIn(Buffer.concat([Buffer.from('M\0a\uFFFDb\0'), raw, Buffer.from('\0z\0')]))
  expect(names.map(({ text, bytes }) => [text, bytes !== undefined])).toEqual([
    ['M', false],
    ['a\uFFFDb', false],
    [escaped(raw), true],
    ['z', false],
  ])
})
