import { expect, test } from 'vitest'
import { SandboxFiles, reasonOf, refused } from './files-fixture.contract.ts'
import type { Sandbox } from './files-fixture.contract.ts'

/** The part of the suite about creating, removing, copying and moving. */
export function filesChangeContract(name: string, open: () => Promise<Sandbox>): void {
  const sandbox = async () => new SandboxFiles(await open())

  test(`[E6] [E6.1] ${name}: a directory is created with its parents, and may exist`, async () => {
    const { make, write, link, root, list, beside } = await sandbox()
    await make('a/b/c')
    await make('a/b/c')
    await make('')
    await write('file', 'x')
    await link(`${root}/to`, 'a/b')
    await link(`${root}/out`, beside)
    await link(`${root}/gone`, 'nothing')
    await make('to/d')
    await refused(make('file'), 'exists')
    await refused(make('file/x'), 'unfit')
    await refused(make('gone'), 'exists')
    await refused(make('gone/x'), 'unfit')
    await refused(make('out'), 'outside')
    await refused(make('out/x'), 'outside')
    expect([await list('a/b'), await list('')]).toEqual([
      ['c/', 'd/'],
      ['a/', 'file', 'gone', 'out', 'to/'],
    ])
  })

  test(`[E7] ${name}: a removed file is gone; of a link only the link`, async () => {
    const { change, at, write, make, link, list, text, root, beside, put, files } = await sandbox()
    const remove = (path: string, recursive: boolean) =>
      change({ kind: 'remove', place: at(path), recursive })
    await put(`${beside}/secret`, 'secret')
    await write('a', 'x')
    await make('full/deep/er')
    await write('full/deep/file', 'x')
    await make('empty')
    await link(`${root}/full/link`, `${root}/kept`)
    await link(`${root}/full/out`, beside)
    await make('kept')
    await write('kept/a', 'kept')
    await link(`${root}/kept/self`, '.')
    await remove('a', false)
    await remove('empty', false)
    await refused(remove('full', false), 'unfit')
    await refused(remove('nothing', true), 'missing')
    await refused(remove('', true), 'outside')
    await remove('full/link', true)
    await remove('full', true)
    expect([await list(''), await list('kept'), await text('kept/a')]).toEqual([
      ['kept/'],
      ['a', 'self/'],
      'kept',
    ])
    expect(await files.list({ path: beside, roots: [beside] }, 10)).toHaveLength(1)
  })

  test.each(['copy', 'move'] as const)(`[E8] ${name}: %s of a file and of a directory`, async (kind) => {
    const { change, at, write, make, list, text, link, root } = await sandbox()
    const carry = (from: string, to: string, failIfExists = false) =>
      change({ kind, from: at(from), to: at(to), failIfExists })
    await write('a', 'file a')
    await write('b', 'file b')
    await make('d/e')
    await write('d/e/f', 'deep')
    await link(`${root}/d/l`, 'e/f')
    await make('taken')
    await refused(carry('a', 'b', true), 'exists')
    await refused(carry('a', 'taken'), 'exists')
    await refused(carry('d', 'b'), 'exists')
    await refused(carry('d', 'taken'), 'exists')
    await refused(carry('a', 'a'), 'unfit')
    await refused(carry('d', 'd'), 'unfit')
    await refused(carry('d', 'd/in'), 'unfit')
    await refused(carry('d', 'd/e/in'), 'unfit')
    await refused(carry('nothing', 'x'), 'missing')
    await refused(carry('a', 'nowhere/x'), 'missing')
    await refused(carry('a', ''), 'outside')
    expect([await text('a'), await text('b')]).toEqual(['file a', 'file b'])
    await carry('a', 'b')
    await carry('d', 'd2', true)
    await carry('b', 'c', true)
    expect([await text('c'), await text('d2/e/f'), await text('d2/l')]).toEqual(['file a', 'deep', 'deep'])
    const left = kind === 'copy' ? ['a', 'b', 'c', 'd/', 'd2/', 'taken/'] : ['c', 'd2/', 'taken/']
    expect(await list('')).toEqual(left)
    await refused(carry('', 'x'), kind === 'copy' ? 'unfit' : 'outside')
  })

  test(`[E8] [E8.1] ${name}: a copy follows a link, a move moves the link itself`, async () => {
    const { change, at, write, link, root, files, text, beside, put, make } = await sandbox()
    await put(`${beside}/secret`, 'secret')
    await write('a', 'x')
    await link(`${root}/l`, 'a')
    await link(`${root}/out`, `${beside}/secret`)
    await change({ kind: 'copy', from: at('l'), to: at('copied'), failIfExists: false })
    await change({ kind: 'move', from: at('l'), to: at('moved'), failIfExists: false })
    await refused(change({ kind: 'copy', from: at('out'), to: at('x'), failIfExists: false }), 'outside')
    await refused(change({ kind: 'copy', from: at('a'), to: at('out'), failIfExists: false }), 'outside')
    await change({ kind: 'move', from: at('out'), to: at('still out'), failIfExists: true })
    expect((await files.stat(at('copied'), false)).type).toBe('file')
    expect((await files.stat(at('moved'), false)).type).toBe('symlink')
    await refused(files.read(at('still out'), 100), 'outside')
    // A file that is moved onto a symbolic link replaces the link, and the link's target stays.
    await write('b', 'y')
    await change({ kind: 'move', from: at('b'), to: at('moved'), failIfExists: false })
    expect([await text('moved'), await text('a')]).toEqual(['y', 'x'])
    // A symbolic link to a directory is not replaced.
    await make('folder')
    await link(`${root}/to folder`, 'folder')
    for (const kind of ['copy', 'move'] as const)
      await refused(change({ kind, from: at('a'), to: at('to folder'), failIfExists: false }), 'exists')
    expect((await files.stat(at('to folder'), false)).type).toBe('symlink')
  })

  test.each(['copy', 'move'] as const)(
    `[E8] ${name}: of several that %s to one new name at once, exactly one succeeds`,
    async (kind) => {
      const { change, at, write, text } = await sandbox()
      const names = Array.from({ length: 6 }, (_, i) => `${i}`)
      for (const each of names) await write(each, each)
      const reasons = await Promise.all(
        names.map((each) => reasonOf(change({ kind, from: at(each), to: at('one'), failIfExists: true }))),
      )
      expect(reasons.filter((reason) => reason === 'exists')).toHaveLength(5)
      expect(await text('one')).toBe(names[reasons.indexOf(undefined)])
    },
  )
}
