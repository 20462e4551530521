import { describe, expect, test } from 'vitest'
import { chat, entryOf, filled, found, one, said, turn, two, words } from './search-fixture.contract.ts'
import type { OpenedIndex } from './search-fixture.contract.ts'

/** The part of the suite that is about changes of the index. */
export function searchUpdates(name: string, open: () => Promise<OpenedIndex>): void {
  describe(`${name}: changes of the index`, () => {
    const entry = entryOf()

    test('[Q28] a turn is replaced by its new texts, and without texts it is gone', async () => {
      const { index } = await filled(open, { a: 'old words', b: 'words' })
      await index.update({ session: one, entry, turns: [turn('a', said('new words'))] })
      expect(await found(index, words('old'))).toEqual([])
      expect(await found(index, words('new'))).toEqual(['a'])
      await index.update({ session: one, entry, turns: [turn('a')] })
      expect(await found(index, words('words'))).toEqual(['b'])
      await index.update({ session: one, entry, turns: [turn('a', said('old')), turn('a', said('new'))] })
      expect(await found(index, words('old'))).toEqual([])
      expect(await found(index, words('new'))).toEqual(['a'])
    })

    test('[Q28] turns that are not kept are gone', async () => {
      const { index } = await filled(open, { a: 'word', b: 'word', c: 'word' })
      await index.update({ session: one, entry, kept: [{ chat, turnIds: ['b', 'z'] }] })
      expect(await found(index, words('word'))).toEqual(['b'])
      await index.update({ session: one, entry, kept: [{ chat, turnIds: [] }] })
      expect(await found(index, words('word'))).toEqual([])
    })

    test('[Q28] a chat or session that is gone takes its texts with it', async () => {
      const { index } = await filled(open, { a: 'word' })
      const other = entryOf({ title: 'word', chats: [{ chat: 'ahp-chat:/2', title: '' }] })
      await index.update({ session: two, entry: other, version: 8 })
      await index.update({ session: one, entry: entryOf({ chats: [] }) })
      expect(await found(index, words('word'))).toEqual([undefined])
      await index.update({ session: two })
      expect(await found(index, words('word'))).toEqual([])
      expect(await index.begin(2, [1])).toEqual(new Map([[one, 0]]))
      await index.update({ session: 'ahp-session:/none' })
    })

    test('[Q28] a chat that moves to another session keeps its texts', async () => {
      const { index } = await filled(open, { a: 'word' })
      await index.update({ session: two, entry: entryOf({ provider: 'other' }) })
      await index.update({ session: one, entry: entryOf({ chats: [] }) })
      expect((await index.find({ ...words('word'), provider: 'other' })).found).toMatchObject([
        { session: two, turnId: 'a' },
      ])
    })

    test('[Q26] an index that is opened again has its texts, and the versions of the sessions', async () => {
      const { reopen } = await filled(open, { a: 'word' })
      const index = await reopen()
      expect(await index.begin(2, [0, 1])).toEqual(new Map([[one, 7]]))
      expect(await found(index, words('word'))).toEqual(['a'])
      await index.update({ session: one, entry })
      expect(await index.begin(3, [2])).toEqual(new Map([[one, 0]]))
    })

    test('[Q26] if an epoch has passed the index by, no session has a version', async () => {
      const { reopen } = await filled(open, { a: 'word' })
      expect(await (await reopen()).begin(3, [0, 2])).toEqual(new Map([[one, 0]]))
      const { reopen: again } = await filled(open, { a: 'word' })
      expect(await (await again()).begin(3, [])).toEqual(new Map([[one, 0]]))
    })

    test('[Q27] a cleared index is empty, and can be filled again', async () => {
      const { index } = await filled(open, { a: 'word' })
      await index.clear()
      expect(await index.begin(1, [])).toEqual(new Map())
      expect(await found(index, words('word'))).toEqual([])
      await index.update({ session: one, entry, turns: [turn('a', said('word'))] })
      expect(await found(index, words('word'))).toEqual(['a'])
    })
  })
}
