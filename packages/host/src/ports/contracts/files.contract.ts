import { expect, test } from 'vitest'
import { filesChangeContract } from './files-change.contract.ts'
import { SandboxFiles, allCalls, refused } from './files-fixture.contract.ts'
import type { Sandbox } from './files-fixture.contract.ts'
import { filesWriteContract } from './files-write.contract.ts'
import type { FileReason } from '../files.ts'

/** The suite that every adapter of `Files` passes. Each test opens its own sandbox. */
export function filesContract(name: string, open: () => Promise<Sandbox>): void {
  filesReadContract(name, open)
  filesWriteContract(name, open)
  filesChangeContract(name, open)
}

/** The part of the suite about reading, and about paths outside the roots. */
function filesReadContract(name: string, open: () => Promise<Sandbox>): void {
  const sandbox = async () => new SandboxFiles(await open())

  test(`[E2] ${name}: bytes are read as they were written, and a file above the maximum is refused`, async () => {
    const { files, at, write } = await sandbox()
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7) % 256)
    await files.write(at('a'), bytes)
    expect([...(await files.read(at('a'), 1000))]).toEqual([...bytes])
    await refused(files.read(at('a'), 999), 'unfit')
    await write('none', '')
    expect(await files.read(at('none'), 0)).toHaveLength(0)
  })

  test.each<readonly [string, FileReason]>([
    ['nothing', 'missing'],
    ['nothing/at/all', 'missing'],
    ['a file/x', 'missing'],
    ['a folder', 'unfit'],
    ['', 'unfit'],
  ])(`[E2] ${name}: %j is not read: %s`, async (path, reason) => {
    const { files, at, write, make } = await sandbox()
    await write('a file', 'x')
    await make('a folder')
    await refused(files.read(at(path), 100), reason)
  })

  test(`[E6] ${name}: a directory is listed, unless it has more entries than the maximum`, async () => {
    const { files, at, write, make } = await sandbox()
    await write('a', '')
    await make('b')
    expect((await files.list(at(''), 2)).toSorted((x, y) => (x.name < y.name ? -1 : 1))).toEqual([
      { name: 'a', type: 'file' },
      { name: 'b', type: 'directory' },
    ])
    await refused(files.list(at(''), 1), 'unfit')
    expect(await files.list(at('b'), 0)).toEqual([])
    await refused(files.list(at('a'), 10), 'unfit')
    await refused(files.list(at('c'), 10), 'missing')
  })

  test(`[E3] ${name}: stat returns the metadata, and another etag after every change`, async () => {
    const { files, at, write, make, root } = await sandbox()
    await write('a', 'four')
    await make('b')
    const first = await files.stat(at('a'), true)
    expect(first).toMatchObject({ path: `${root}/a`, type: 'file', size: 4 })
    expect(Math.abs(first.mtime - first.ctime)).toBeLessThan(60_000)
    expect([first.mtime, first.ctime].every(Number.isSafeInteger)).toBe(true)
    expect(await files.stat(at('a'), false)).toEqual(first)
    expect(await files.stat(at('b'), true)).toMatchObject({ path: `${root}/b`, type: 'directory' })
    expect(await files.stat(at(''), false)).toMatchObject({ path: root, type: 'directory' })
    const etags = [first.etag]
    for (const how of [{}, { mode: 'append' }, { mode: 'insert' }] as const) {
      await write('a', 'more', how)
      etags.push((await files.stat(at('a'), true)).etag)
    }
    expect(new Set(etags).size).toBe(4)
    await refused(files.stat(at('c'), true), 'missing')
    await refused(files.stat(at('c'), false), 'missing')
  })

  test(`[E1] [E1.3] ${name}: links to paths inside are followed; links to paths outside are refused`, async () => {
    const { files, at, link, write, text, put, root, beside, list, etag } = await sandbox()
    await write('a', 'inside')
    await put(`${beside}/secret`, 'secret')
    for (const [from, to] of [
      ['in', 'a'],
      ['far', `${root}/in`],
      ['top', '.'],
      ['out', `${beside}/secret`],
      ['up', '..'],
      ['gone', 'nothing'],
      ['gone out', `${beside}/nothing`],
    ] as const)
      await link(`${root}/${from}`, to)
    expect([await text('in'), await text('far'), await text('top/far')]).toEqual([
      'inside',
      'inside',
      'inside',
    ])
    expect(await files.stat(at('far'), true)).toMatchObject({ path: `${root}/a`, type: 'file' })
    expect(await files.stat(at('far'), false)).toMatchObject({ path: `${root}/far`, type: 'symlink' })
    expect(await etag('top/a')).toBe(await etag('a'))
    for (const out of ['out', 'up', 'up/x', 'gone out']) {
      await refused(files.read(at(out), 100), 'outside')
      await refused(files.stat(at(out), true), 'outside')
    }
    await refused(files.read(at('gone'), 100), 'missing')
    expect(await list('')).toEqual(['a', 'far', 'gone', 'gone out', 'in', 'out', 'top/', 'up'])
  })

  test(`[E1] [E1.1] ${name}: every call refuses a path that is outside by its text, whatever is there`, async () => {
    const { files, root, beside, put, write, text } = await sandbox()
    await put(`${beside}/secret`, 'secret')
    await put(`${root}2`, 'a neighbour')
    await write('a', 'x')
    const inside = { path: `${root}/a`, roots: [root] }
    // All these paths are in the temporary folder of the test, because an adapter that fails this test really changes
    // them.
    const above = root.slice(0, root.lastIndexOf('/'))
    for (const path of [`${beside}/secret`, `${beside}/nothing`, beside, `${root}2`, above, `${above}/no`]) {
      const place = { path, roots: [root] }
      for (const [, attempt] of allCalls(files, place, inside)) await refused(attempt(), 'outside')
    }
    for (const path of [`${root}/../x`, `${root}/.`, `${root}//a`, `${root}/a/`, 'a', '', `${root}/a\0b`])
      for (const [, attempt] of allCalls(files, { path, roots: [root] }, inside))
        await refused(attempt(), 'unfit')
    for (const [, attempt] of allCalls(files, { path: `${root}/a`, roots: [] }, inside))
      await refused(attempt(), 'outside')
    expect(await text('a')).toBe('x')
  })

  test(`[E1] ${name}: a path may be in any of several roots, and in none it is outside`, async () => {
    const { files, root, beside, link, put } = await sandbox()
    await put(`${beside}/b`, 'beside')
    await link(`${root}/over`, `${beside}/b`)
    const roots = ['/nowhere/at/all', root, beside]
    const place = { path: `${root}/over`, roots }
    expect(new TextDecoder().decode(await files.read(place, 100))).toBe('beside')
    expect((await files.stat(place, true)).path).toBe(`${beside}/b`)
    await files.change({
      kind: 'move',
      from: { path: `${beside}/b`, roots },
      to: { path: `${root}/b`, roots },
      failIfExists: true,
    })
    expect(await files.list({ path: beside, roots }, 10)).toEqual([])
  })

  test(`[E2] ${name}: names have no special characters`, async () => {
    const { write, text, list } = await sandbox()
    const names = [
      'ü',
      'u\u0308',
      "it's",
      '"',
      ' ',
      'a b',
      'a%20b',
      '~',
      '-rf',
      '*',
      '$(x)',
      '😀',
      'x'.repeat(200),
    ]
    for (const each of names) await write(each, each)
    for (const each of names) expect(await text(each)).toBe(each)
    expect(await list('')).toEqual(names.toSorted())
  })
}
