import { describe, expect, test } from 'vitest'
import type { CapturedChange, CapturedEdit } from '../captures.ts'
import { taking } from './captures.contract.ts'
import type { CapturedFolder } from './captures.contract.ts'

/** The edits that take changes back. A rename is two edits. */
export function undoing(changes: readonly CapturedChange[]): readonly CapturedEdit[] {
  return changes.flatMap(({ path, oldPath, before, after }): readonly CapturedEdit[] =>
    oldPath === undefined
      ? [{ path, ...(after && { expected: after }), ...(before && { wanted: before }) }]
      : [
          { path, ...(after && { expected: after }) },
          { path: oldPath, ...(before && { wanted: before }) },
        ],
  )
}

/** The suite about changing files that every implementation of `Captures` passes. */
export function applyContract(name: string, open: () => Promise<CapturedFolder>): void {
  const changed = async (prepare: string, change: (folder: CapturedFolder) => Promise<void>) => {
    const folder = await open()
    const { captures, directory } = folder
    for (const path of prepare.split(' ')) await folder.write(path, `${path}\n`)
    const before = await captures.take(directory, taking())
    await change(folder)
    const after = await captures.take(directory, taking())
    const edits = undoing(await captures.compare(before.id, after.id))
    const now = async () => (await captures.take(directory, taking())).id
    return { folder, captures, directory, edits, before: before.id, after: after.id, now }
  }

  describe(`${name}: applying edits`, () => {
    test('[O20] files are written, deleted and created, and the folder is as it was', async () => {
      const { captures, directory, edits, before, now } = await changed('a deep/b c', async (folder) => {
        await folder.write('a', 'changed')
        await folder.remove('deep/b')
        await folder.write('new/er/file', '1')
        await folder.write('c', 'c\n', '100755')
      })
      const applied = await captures.apply(directory, edits)
      expect(applied).toEqual({ directory, done: edits.map(({ path }) => path), left: [] })
      expect(await now()).toBe(before)
    })

    test('[O20] renames and links are taken back', async () => {
      const { folder, captures, directory, edits, before, now } = await changed('a b', async (each) => {
        await each.remove('a')
        await each.write('moved/a', 'a\n')
        await each.remove('b')
        await each.write('b', 'a', '120000')
      })
      expect((await captures.apply(directory, edits)).left).toEqual([])
      expect(await now()).toBe(before)
      expect(await folder.text('b')).toBe('b\n')
    })

    test('[O20] a file that somebody has changed is left as it is, and the others are done', async () => {
      const { folder, captures, directory, edits } = await changed('a b c d', async (each) => {
        for (const path of ['a', 'b']) await each.write(path, 'by the turn')
        await each.remove('c')
        await each.remove('d')
        await each.write('new', 'by the turn')
        await each.write('later', 'by the turn')
      })
      await folder.write('b', 'by a person')
      await folder.write('c', 'by a person')
      await folder.write('new', 'by a person')
      const { done, left } = await captures.apply(directory, edits)
      expect(done.toSorted()).toEqual(['a', 'd', 'later'])
      expect(left.map(({ path }) => path).toSorted()).toEqual(['b', 'c', 'new'])
      for (const { reason } of left) expect(reason).toMatch(/^[A-Z].+\.$/)
      for (const path of ['b', 'c', 'new']) expect(await folder.text(path)).toBe('by a person')
      expect(await folder.text('a')).toBe('a\n')
      expect(await folder.text('later')).toBeUndefined()
    })

    test('[O20] a file whose mode somebody has changed is left as it is', async () => {
      const { folder, captures, directory, edits } = await changed('a', (each) => each.write('a', 'x'))
      await folder.write('a', 'x', '100755')
      expect(await captures.apply(directory, edits)).toMatchObject({ done: [], left: [{ path: 'a' }] })
      expect(await folder.text('a')).toBe('x')
    })

    test('[O20] edits that were applied cannot be applied again, and their opposite can', async () => {
      const { captures, directory, edits, before, after, now } = await changed('a', (each) =>
        each.write('a', 'x'),
      )
      await captures.apply(directory, edits)
      expect(await captures.apply(directory, edits)).toMatchObject({ done: [], left: [{ path: 'a' }] })
      expect(await now()).toBe(before)
      const redo = undoing(await captures.compare(after, before))
      expect((await captures.apply(directory, redo)).left).toEqual([])
      expect(await now()).toBe(after)
    })

    test('[O20] [O20.3] a path outside the folder, or in the repository’s own folder, is left as it is', async () => {
      const { captures, directory, edits } = await changed('a', (each) => each.write('a', 'x'))
      const [edit] = edits
      for (const path of [
        '../a',
        '/a',
        'x/../../a',
        '.git/config',
        'x/.git/hooks/pre-commit',
        '',
        'a//b',
        './a',
      ]) {
        const created = { path, ...(edit?.wanted && { wanted: edit.wanted }) }
        const applied = await captures.apply(directory, [created])
        expect(applied, path).toMatchObject({ done: [], left: [{ path }] })
      }
    })

    test('[O20] a content that is not stored is not written', async () => {
      const { folder, captures, directory, edits } = await changed('a', (each) => each.write('a', 'x'))
      const [edit] = edits
      if (!edit?.wanted || !('content' in edit.wanted)) throw new Error('no edit')
      const wanted = { ...edit.wanted, content: edit.wanted.content.replaceAll(/[\da-f]/g, '0') }
      expect(await captures.apply(directory, [{ ...edit, wanted }])).toMatchObject({ done: [] })
      expect(await folder.text('a')).toBe('x')
    })

    test('[O40] an edit may bring a content that is in no capture, and needs the expected one all the same', async () => {
      const { folder, captures, directory, edits } = await changed('a b', async (each) => {
        await each.write('a', 'x', '100755')
        await each.write('b', 'x')
      })
      await folder.write('b', 'by a person')
      const bytes = new TextEncoder().encode('a part of it')
      const brought = edits.map((edit) => ({ ...edit, wanted: { bytes, mode: '100755' as const } }))
      const { done, left } = await captures.apply(directory, brought)
      expect([done, left.map(({ path }) => path)]).toEqual([['a'], ['b']])
      expect([await folder.text('a'), await folder.text('b')]).toEqual(['a part of it', 'by a person'])
    })

    test('[O21] without a crash there is nothing to recover', async () => {
      const { folder, captures, directory, edits } = await changed('a', (each) => each.write('a', 'x'))
      await captures.apply(directory, edits)
      expect(await (await folder.restart()).recover()).toEqual([])
    })
  })
}
