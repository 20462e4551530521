import { expect, test } from 'vitest'
import { SandboxFiles, reasonOf, refused } from './files-fixture.contract.ts'
import type { Sandbox } from './files-fixture.contract.ts'
import type { Write } from '../files.ts'

/** The part of the suite about writing. */
export function filesWriteContract(name: string, open: () => Promise<Sandbox>): void {
  const sandbox = async () => new SandboxFiles(await open())

  test.each<readonly [string, Write, string]>([
    ['no mode', {}, '-+-'],
    ['truncate', { mode: 'truncate' }, '-+-'],
    ['truncate at 2', { mode: 'truncate', position: 2 }, 'ab-+-'],
    ['truncate at the end', { mode: 'truncate', position: 6 }, 'abcdef-+-'],
    ['truncate behind the end', { mode: 'truncate', position: 99 }, 'abcdef-+-'],
    ['append', { mode: 'append' }, 'abcdef-+-'],
    ['append 2 before the end', { mode: 'append', position: 2 }, 'abcd-+-ef'],
    ['append before the beginning', { mode: 'append', position: 99 }, '-+-abcdef'],
    ['insert', { mode: 'insert' }, '-+-abcdef'],
    ['insert at 4', { mode: 'insert', position: 4 }, 'abcd-+-ef'],
    ['insert behind the end', { mode: 'insert', position: 99 }, 'abcdef-+-'],
  ])(`[E4] [E4.3] ${name}: %s`, async (_, how, expected) => {
    const { write, text, list } = await sandbox()
    await write('a', 'abcdef')
    await write('a', '-+-', how)
    expect(await text('a')).toBe(expected)
    await write('new', '-+-', how)
    expect(await text('new')).toBe('-+-')
    expect(await list('')).toEqual(['a', 'new'])
  })

  test(`[E4] ${name}: a write to a directory, or into a missing one, is refused`, async () => {
    const { write, make, text, list } = await sandbox()
    await make('folder')
    await write('file', 'x')
    for (const how of [{}, { mode: 'append' }, { mode: 'insert' }] as const) {
      await refused(write('nowhere/a', 'y', how), 'missing')
      await refused(write('file/a', 'y', how), 'missing')
      await refused(write('folder', 'y', how), 'unfit')
      await refused(write('', 'y', how), 'unfit')
    }
    expect([await list(''), await text('file')]).toEqual([['file', 'folder/'], 'x'])
  })

  test(`[E4] [E4.5] ${name}: of several that create a file at once, exactly one succeeds`, async () => {
    const { write, text, list, make } = await sandbox()
    for (const mode of ['truncate', 'append', 'insert'] as const) {
      const texts = Array.from({ length: 8 }, (_, i) => `${mode} ${i}`)
      const reasons = await Promise.all(
        texts.map((each) => reasonOf(write(mode, each, { mode, createOnly: true }))),
      )
      expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1)
      expect(reasons.filter((reason) => reason === 'exists')).toHaveLength(7)
      expect(await text(mode)).toBe(texts[reasons.indexOf(undefined)])
    }
    await make('folder')
    await refused(write('folder', 'x', { createOnly: true }), 'exists')
    await refused(write('', 'x', { createOnly: true }), 'exists')
    expect(await list('')).toEqual(['append', 'folder/', 'insert', 'truncate'])
  })

  test(`[E5] [F-40c] ${name}: of several writes with the same etag, exactly one succeeds`, async () => {
    const { write, text, etag } = await sandbox()
    await write('a', 'old')
    for (let round = 0; round < 10; round++) {
      const ifMatch = await etag('a')
      const texts = Array.from({ length: 8 }, (_, i) => `${round}.${i}`)
      const reasons = await Promise.all(texts.map((each) => reasonOf(write('a', each, { ifMatch }))))
      expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1)
      expect(reasons.filter((reason) => reason === 'changed')).toHaveLength(7)
      expect(await text('a')).toBe(texts[reasons.indexOf(undefined)])
      await refused(write('a', 'late', { ifMatch }), 'changed')
    }
  })

  test(`[E5] ${name}: a write with the etag of a removed file fails as changed`, async () => {
    const { write, etag, change, at, list } = await sandbox()
    await write('a', 'old')
    const ifMatch = await etag('a')
    await change({ kind: 'remove', place: at('a'), recursive: false })
    for (const mode of ['truncate', 'append', 'insert'] as const)
      await refused(write('a', 'x', { mode, ifMatch }), 'changed')
    expect(await list('')).toEqual([])
  })

  test(`[E4] [E4.4] ${name}: concurrent appends are all in the file, each in one piece`, async () => {
    const { write, text } = await sandbox()
    const lines = Array.from({ length: 60 }, (_, i) => `${i} ${'x'.repeat(i * 50)}\n`)
    await Promise.all(lines.map((line) => write('log', line, { mode: 'append' })))
    expect((await text('log')).split(/(?<=\n)/).toSorted()).toEqual(lines.toSorted())
  })

  test(`[E4] ${name}: a read during writes returns one version as a whole`, async () => {
    const { write, text } = await sandbox()
    const versions = ['a', 'b', 'c'].map((letter) => letter.repeat(20_000))
    await write('a', versions[0] ?? '')
    const writing = Promise.all(versions.map((version) => write('a', version)))
    const seen = await Promise.all(Array.from({ length: 20 }, () => text('a')))
    await writing
    expect(seen.filter((each) => !versions.includes(each))).toEqual([])
  })

  test(`[E4] ${name}: a write through a link changes its target, and the link stays`, async () => {
    const { files, at, link, write, text, put, root, beside } = await sandbox()
    await write('a', 'old')
    await put(`${beside}/secret`, 'secret')
    await link(`${root}/in`, 'a')
    await link(`${root}/out`, `${beside}/secret`)
    await link(`${root}/gone`, 'nothing')
    for (const mode of ['truncate', 'append', 'insert'] as const) {
      await write('in', 'new ', { mode })
      await refused(write('out', 'x', { mode }), 'outside')
      await refused(write('gone', 'x', { mode }), 'missing')
      await refused(write('in', 'x', { mode, createOnly: true }), 'exists')
    }
    expect([await text('a'), (await files.stat(at('in'), false)).type]).toEqual(['new new new ', 'symlink'])
    const there = { path: `${beside}/secret`, roots: [beside] }
    expect(new TextDecoder().decode(await files.read(there, 100))).toBe('secret')
  })
}
