import { describe, expect, test } from 'vitest'
import type { SearchQuery } from '../search-index.ts'
import {
  chat,
  entryOf,
  filled,
  found,
  idsOf,
  noon,
  one,
  said,
  turn,
  two,
  words,
} from './search-fixture.contract.ts'
import type { OpenedIndex } from './search-fixture.contract.ts'
import { searchUpdates } from './search-updates.contract.ts'

/** The suite that every adapter of `SearchIndex` passes. */
export function searchContract(name: string, open: () => Promise<OpenedIndex>): void {
  describe(`${name}: search`, () => {
    test('[Q22] all words must occur in one text, whatever their case and the accents of Latin letters', async () => {
      const { index } = await filled(open, { a: 'The Café opens at dawn.', b: 'a cafe', c: 'dawn' })
      expect(await found(index, words('cafe'))).toEqual(['b', 'a'])
      expect(await found(index, words('CAFÉ', 'dawn'))).toEqual(['a'])
      expect(await found(index, words('cafe\u0301'))).toEqual(['b', 'a'])
      expect(await found(index, words('caf'))).toEqual([])
      expect(await found(index, words('cafe', 'noon'))).toEqual([])
    })

    test('[Q22] letters that are not Latin count as they are written, composed or not, whatever their case', async () => {
      const rows = [
        ['οδός', 'οδος', 'ΟΔΌΣ'],
        ['ещё', 'еще', 'ЕЩЁ'],
        ['мой', 'мои', 'МОЙ'],
        ['が', 'か', 'が'],
        ['שָׁלוֹם', 'שלום', 'שָׁלוֹם'],
        ['مُحَمَّد', 'محمد', 'مُحَمَّد'],
      ] as const
      const { index } = await filled(open, Object.fromEntries(rows.map(([text]) => [text, text])))
      for (const [text, other, same] of rows) {
        expect(await found(index, words(other))).toEqual([])
        for (const form of ['NFC', 'NFD'])
          expect(await found(index, words(same.normalize(form)))).toEqual([text])
      }
      const apart = Object.fromEntries(rows.map(([text]) => [text, text.normalize('NFD')]))
      const { index: decomposed } = await filled(open, apart)
      for (const [text, other, same] of rows) {
        expect(await found(decomposed, words(other))).toEqual([])
        expect(await found(decomposed, words(same))).toEqual([text])
      }
    })

    test('[Q22] accents of Latin letters do not matter, and a mark of another script separates words', async () => {
      const { index } = await filled(open, {
        a: 'Việt Nam',
        b: 'Ångström',
        c: 'ГОРА\u0301 x\u0489y',
        d: 'Łódź ısı',
      })
      expect(await found(index, words('viet nam'))).toEqual(['a'])
      expect(await found(index, words('angstrom'))).toEqual(['b'])
      expect(await found(index, words('гора'))).toEqual(['c'])
      expect(await found(index, words('x y'))).toEqual(['c'])
      // The stroke of Ł is no accent, and ı is a letter of its own.
      expect(await found(index, words('łodz'))).toEqual(['d'])
      expect(await found(index, words('lodz'))).toEqual([])
      expect(await found(index, words('isi'))).toEqual([])
    })

    test('[Q22] a phrase is found where its words follow one another, and a prefix where a word begins with it', async () => {
      const { index } = await filled(open, { a: 'run the unit tests', b: 'the tests of a unit', c: 'united' })
      expect(await found(index, words('unit tests'))).toEqual(['a'])
      expect(await found(index, words('unit*'))).toEqual(['c', 'b', 'a'])
      expect(await found(index, words('the unit te*'))).toEqual(['a'])
      expect(await found(index, words('src/unit-tests.ts'))).toEqual([])
    })

    test('[Q22] signs separate words, and nothing in a term is an operator', async () => {
      const { index } = await filled(open, { a: 'see src/app_main.ts NEAR the end', b: "don't OR else" })
      expect(await found(index, words('src/app_main.ts'))).toEqual(['a'])
      expect(await found(index, words('main ts'))).toEqual(['a'])
      expect(await found(index, words("DON'T"))).toEqual(['b'])
      for (const text of [
        'near',
        'a" OR "b',
        'a AND',
        '(see',
        '-see',
        '^see',
        'text:see',
        'see + src',
        'é\0x',
      ])
        expect(Array.isArray(await found(index, words(text)))).toBe(true)
      expect(await found(index, words('or*'))).toEqual(['b'])
    })

    test('[Q22] emoji, currencies and invisible signs separate words, also new ones', async () => {
      const { index } = await filled(open, {
        a: 'all done🤔🫠then',
        b: '100₽ or 3₿',
        c: '\u2068isolated\u2069 text',
        d: 'thumbs👍🏽up',
      })
      expect(await found(index, words('done'))).toEqual(['a'])
      expect(await found(index, words('done then'))).toEqual(['a'])
      expect(await found(index, words('100'))).toEqual(['b'])
      expect(await found(index, words('3₿'))).toEqual(['b'])
      expect(await found(index, words('isolated'))).toEqual(['c'])
      expect(await found(index, words('thumbs up'))).toEqual(['d'])
    })

    test('[Q22] each ideograph is a word', async () => {
      const { index } = await filled(open, { a: '修复登录错误', b: '登録のテスト', c: 'API登录' })
      expect(await found(index, words('登录'))).toEqual(['c', 'a'])
      expect(await found(index, words('テスト'))).toEqual(['b'])
      expect(await found(index, words('api'))).toEqual(['c'])
      const { excerpt } = (await index.find(words('登录'))).found[1] ?? {}
      expect(excerpt).toEqual({ text: '修复登录错误', matches: [{ start: 2, end: 4 }] })
    })

    test('[Q25] a found text has its place, its author, its time, and an excerpt with the places of the words', async () => {
      const { index } = await filled(open, {
        a: [said('Fix the\nlogin page'), said('Done: the page', { who: 'agent', time: noon + 5000 })],
      })
      expect(await index.find(words('page', 'the'))).toEqual({
        found: [
          {
            session: one,
            chat,
            turnId: 'a',
            who: 'agent',
            time: noon + 5000,
            excerpt: {
              text: 'Done: the page',
              matches: [
                { start: 6, end: 9 },
                { start: 10, end: 14 },
              ],
            },
          },
          {
            session: one,
            chat,
            turnId: 'a',
            who: 'user',
            time: noon,
            excerpt: {
              text: 'Fix the login page',
              matches: [
                { start: 4, end: 7 },
                { start: 14, end: 18 },
              ],
            },
          },
        ],
      })
    })

    test('[Q25] [S-57 excerptLength] at 400 characters an excerpt is whole; [S-57 excerptLength] past 400 it is cut around the first word', async () => {
      const long = (length: number) => `${'y'.repeat(length - 7)} needle`
      const { index } = await filled(open, {
        a: long(400),
        b: long(401),
        c: `${'y'.repeat(100_000)} needle z`,
      })
      const excerpts = (await index.find(words('needle'))).found.map(({ excerpt }) => excerpt)
      expect(excerpts.map(({ text }) => text.length <= 400)).toEqual([true, true, true])
      expect(excerpts[2]?.text).toBe(long(400))
      for (const { text, matches } of excerpts)
        expect(matches.map(({ start, end }) => text.slice(start, end))).toEqual(['needle'])
      expect(excerpts[1]?.text).toMatch(/^….*needle$/)
    })

    test('[Q25] the excerpt of a long text has the words, and says what was left out', async () => {
      const many = (count: number) => 'word '.repeat(count)
      const { index } = await filled(open, { a: `${many(500)}needle ${many(500)}` })
      const [{ excerpt } = { excerpt: { text: '', matches: [] } }] = (await index.find(words('needle'))).found
      expect(excerpt.text).toMatch(/^….*\bneedle\b.*…$/s)
      expect(excerpt.matches.map(({ start, end }) => excerpt.text.slice(start, end))).toEqual(['needle'])
    })

    test('[Q25] the newest texts come first, page by page', async () => {
      const texts = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`t${i}`, 'same']))
      const { index } = await filled(open, texts)
      const pages: (string | undefined)[][] = []
      for (let before: number | undefined = Infinity; before !== undefined;) {
        const page = await index.find({
          ...words('same'),
          limit: 10,
          ...(before !== Infinity && { before }),
        })
        pages.push(idsOf(page.found))
        before = page.next
      }
      expect(pages.map(({ length }) => length)).toEqual([10, 10, 5])
      expect(pages.flat()).toEqual(Object.keys(texts).toReversed())
    })

    test('[Q25] texts of the same time are all found, however many', async () => {
      const texts = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`t${i}`, [said('same')]]))
      const { index } = await filled(open, texts)
      const { found: all } = await index.find({ ...words('same'), limit: 1000 })
      expect(new Set(idsOf(all)).size).toBe(600)
    })

    test('[Q23] agent, folder and time narrow a search', async () => {
      const { index } = await filled(open, { a: 'word', b: 'word' })
      const other = { chat: 'ahp-chat:/2', title: '' }
      const entry = entryOf({ provider: 'other', folders: ['/work/application', '/home'], chats: [other] })
      const turns = [{ ...turn('c', said('word', { time: noon + 120_000 })), chat: other.chat }]
      await index.update({ session: two, entry, turns, version: 8 })
      const narrowed = (more: Partial<SearchQuery>) => found(index, { ...words('word'), ...more })
      expect(await narrowed({})).toEqual(['c', 'b', 'a'])
      expect(await narrowed({ provider: 'mock' })).toEqual(['b', 'a'])
      expect(await narrowed({ provider: 'none' })).toEqual([])
      expect(await narrowed({ folder: '/work/app' })).toEqual(['b', 'a'])
      expect(await narrowed({ folder: '/work' })).toEqual(['c', 'b', 'a'])
      expect(await narrowed({ folder: '/' })).toEqual(['c', 'b', 'a'])
      expect(await narrowed({ folder: '/home', provider: 'mock' })).toEqual([])
      await index.update({
        session: two,
        entry: { ...entry, folders: ['/work/app0', '/work/app-'] },
        version: 9,
      })
      expect(await narrowed({ folder: '/work/app' })).toEqual(['b', 'a'])
      expect(await narrowed({ folder: '/work/app0' })).toEqual(['c'])
      expect(await narrowed({ folder: '/home' })).toEqual([])
      expect(await narrowed({ since: noon + 60_000 })).toEqual(['c', 'b'])
      expect(await narrowed({ until: noon + 60_000 })).toEqual(['a'])
      expect(await narrowed({ since: noon + 60_000, until: noon + 120_000 })).toEqual(['b'])
    })

    test('[Q23] a filter that few chats match, and one that many match, find the texts of these chats and no others', async () => {
      const { index } = await filled(open, { a: 'word', b: 'word', c: 'word' })
      const chats = Array.from({ length: 120 }, (_, i) => ({ chat: `ahp-chat:/many-${i}`, title: '' }))
      const entry = entryOf({ provider: 'other', folders: ['/home'], chats })
      // The texts of the two sessions alternate in time: the first is one of the many, then comes `a`, and so on.
      const timeOf = (i: number) => noon + 60_000 * i - 30_000
      const turns = chats.map((each, i) => ({
        ...turn(`t${i}`, said('word', { time: timeOf(i) })),
        chat: each.chat,
      }))
      await index.update({ session: two, entry, turns, version: 8 })
      const narrowed = (more: Partial<SearchQuery>) => found(index, { ...words('word'), limit: 200, ...more })
      const many = turns.map(({ turnId }) => turnId).toReversed()
      for (const filter of [{ provider: 'other' }, { folder: '/home' }]) {
        expect(await narrowed(filter)).toEqual(many)
        expect(await narrowed({ ...filter, until: timeOf(3) })).toEqual(['t2', 't1', 't0'])
        expect(await narrowed({ ...filter, since: timeOf(118) })).toEqual(['t119', 't118'])
        const { next = 0 } = await index.find({ ...words('word'), ...filter, limit: 50 })
        expect(await narrowed({ ...filter, before: next })).toEqual(many.slice(50))
      }
      for (const filter of [{ provider: 'mock' }, { folder: '/work' }]) {
        expect(await narrowed(filter)).toEqual(['c', 'b', 'a'])
        expect(await narrowed({ ...filter, since: timeOf(1), until: timeOf(2) })).toEqual(['b'])
        expect(await narrowed({ ...filter, since: timeOf(10) })).toEqual([])
        expect(await narrowed({ ...filter, until: timeOf(0) })).toEqual([])
        const { next = 0 } = await index.find({ ...words('word'), ...filter, limit: 2 })
        expect(await narrowed({ ...filter, before: next })).toEqual(['a'])
      }
    })

    test('[Q21] titles of sessions and chats are found, and change', async () => {
      const { index } = await open()
      await index.begin(1, [])
      const chats = [
        { chat, title: 'Fix login' },
        { chat: 'ahp-chat:/2', title: 'Side chat' },
      ]
      await index.update({ session: one, entry: entryOf({ title: 'Fix login', chats }) })
      const page = await index.find(words('login'))
      expect(page.found).toMatchObject([{ session: one, who: 'title', time: noon }])
      expect(page.found[0]).not.toHaveProperty('chat')
      expect((await index.find(words('side'))).found).toMatchObject([{ chat: 'ahp-chat:/2', who: 'title' }])
      await index.update({ session: one, entry: entryOf({ title: 'Renamed', chats: chats.slice(0, 1) }) })
      expect((await index.find(words('side'))).found).toEqual([])
      expect((await index.find(words('renamed'))).found).toHaveLength(1)
      expect((await index.find(words('login'))).found).toMatchObject([{ session: one, chat, who: 'title' }])
    })
  })

  searchUpdates(name, open)
}
