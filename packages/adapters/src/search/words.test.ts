import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from 'vitest'
import { newFolder } from '../../test/store-folder.ts'
import { sqliteSearch } from './sqlite/sqlite.ts'
import { prepared, wordsOf } from './words.ts'

/** Returns the words that the index on SQLite finds in each text. */
async function wordsOfFts5(texts: readonly string[]): Promise<readonly (readonly string[])[]> {
  const folder = newFolder()
  const index = sqliteSearch(folder)
  await index.begin(1, [])
  await index.close()
  const db = new DatabaseSync(join(folder, 'search.db'))
  try {
    db.exec('CREATE VIRTUAL TABLE temp.found USING fts5vocab(main, words, instance); BEGIN')
    const add = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)')
    for (const [i, text] of texts.entries()) add.run(i, text)
    const found = texts.map((): string[] => [])
    for (const row of db.prepare('SELECT doc, term FROM found ORDER BY doc, offset').all())
      found[Number(row['doc'])]?.push(String(row['term']))
    return found
  } finally {
    db.close()
  }
}

/** Letters for which FTS5 has no lower case or no base, because its tables are older or have gaps. */
const gaps = /[\u01e0\u01e1\u037f\u1e9b]/

test.each([
  ['Latin', 0x20, 0x24f],
  ['Latin with marks', 0x1e00, 0x1eff],
  ['Greek', 0x370, 0x3ff],
  ['old Greek', 0x1f00, 0x1fff],
  ['Cyrillic', 0x400, 0x527],
  ['Hebrew', 0x591, 0x5f4],
  ['Arabic', 0x620, 0x6ff],
  ['Japanese', 0x3041, 0x30ff],
  ['Chinese', 0x4e00, 0x4fff],
  ['Korean', 0xac00, 0xad00],
  ['accents and other marks', 0x300, 0x36f],
  ['spaces, punctuation and directions', 0x2000, 0x206f],
  ['currencies', 0x20a0, 0x20cf],
  ['technical signs', 0x2300, 0x243f],
  ['dingbats', 0x2700, 0x27bf],
  ['arrows and stars', 0x2b00, 0x2bff],
  ['old punctuation', 0x2e00, 0x2e7f],
  ['emoji', 0x1f000, 0x1faff],
])('[Q22] the words of a text are those of FTS5: %s', async (_, first, last) => {
  const characters = Array.from({ length: last - first + 1 }, (_each, i) => String.fromCodePoint(first + i))
  const texts = characters
    .filter((one) => !/\p{Cn}/u.test(one) && !gaps.test(one))
    .flatMap((one) => [`${one} a${one}b`, `и${one} か${one}`, one.normalize('NFD')])
    .map(prepared)
  const expected = await wordsOfFts5(texts)
  expect(texts.map((text) => wordsOf(text).map(({ folded }) => folded))).toEqual(expected)
})
