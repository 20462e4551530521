import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, onTestFinished, test, vi } from 'vitest'
import { searchContract } from '../../../../host/src/ports/contracts/search.contract.ts'
import { newFolder } from '../../../test/store-folder.ts'
import { sqliteSearch } from './sqlite.ts'
import type { SqliteSearchOptions } from './sqlite.ts'

const session = 'ahp-session:/1'
const chat = 'ahp-chat:/1'
const entry = { provider: 'mock', folders: [], title: '', time: 0, chats: [{ chat, title: '' }] }
const turn = (turnId: string, text: string) => ({
  chat,
  turnId,
  texts: [{ who: 'user' as const, time: 0, text }],
})
const word = (text: string) => ({ terms: [{ text, prefix: false }], limit: 10 })

function open(folder: string, options?: SqliteSearchOptions) {
  const index = sqliteSearch(folder, options)
  onTestFinished(() => index.close())
  return index
}

searchContract('SQLite', async () => {
  const folder = newFolder()
  const index = open(folder)
  return {
    index,
    async reopen() {
      await index.close()
      return open(folder)
    },
  }
})

/** A folder with a closed index of one turn. */
async function filledFolder(text: string): Promise<string> {
  const folder = newFolder()
  const index = open(folder)
  await index.begin(1, [])
  await index.update({ session, entry, turns: [turn('a', text)], version: 5 })
  await index.close()
  return folder
}

test('[Q27] the file is private', async () => {
  const folder = await filledFolder('word')
  expect(statSync(join(folder, 'search.db')).mode & 0o777).toBe(0o600)
})

test('[Q27] an idle index closes its file, and the next request opens it again', async () => {
  const folder = await filledFolder('word')
  const index = open(folder, { idleMs: 10 })
  for (let round = 0; round < 3; round++) {
    // The thread has the file open alone. So another connection can read it only when the thread has ended.
    expect((await index.find(word('word'))).found).toHaveLength(1)
    await vi.waitUntil(() => isReadable(join(folder, 'search.db')), { timeout: 200_000 })
  }
})

function isReadable(file: string): boolean {
  const db = new DatabaseSync(file)
  try {
    db.prepare('SELECT count(*) FROM sqlite_master').all()
    return true
  } catch (error) {
    expect(String(error)).toContain('locked')
    return false
  } finally {
    db.close()
  }
}

test('[Q27] an index whose files cannot all be removed can be used all the same', async () => {
  const folder = newFolder()
  const index = open(folder)
  await index.begin(1, [])
  const inTheWay = join(folder, 'search.db-shm')
  mkdirSync(inTheWay)
  await expect(index.clear()).rejects.toThrow('search.db-shm')
  await index.begin(2, [1])
  await index.update({ session, entry, turns: [turn('b', 'other')], version: 6 })
  expect((await index.find(word('other'))).found).toHaveLength(1)
  rmdirSync(inTheWay)
  await index.clear()
  expect(await index.begin(2, [1])).toEqual(new Map())
})

test('[Q28] a deleted text is overwritten in the file', async () => {
  const folder = await filledFolder('Confidential Xylophone Quetzalcoatl')
  const has = () =>
    /quetzalcoatl/i.test(readFileSync(join(folder, 'search.db'), 'latin1')) ||
    /xylophone/i.test(readFileSync(join(folder, 'search.db'), 'latin1'))
  expect(has()).toBe(true)
  const index = open(folder)
  await index.update({ session, entry, kept: [{ chat, turnIds: [] }] })
  await index.close()
  expect(has()).toBe(false)
})

test.each([
  [
    'no database',
    (path: string) => writeFileSync(path, 'this is no database, and never was one. '.repeat(200)),
  ],
  ['of a newer version', (path: string) => alter(path, `UPDATE meta SET value = 99 WHERE key = 'schema'`)],
  ['of another program', (path: string) => alter(path, 'DROP TABLE meta; CREATE TABLE other (x)')],
])('[Q27] [F-02] a file that is %s is replaced, with the reason', async (_, spoil) => {
  const folder = await filledFolder('word')
  spoil(join(folder, 'search.db'))
  const reasons: string[] = []
  const index = open(folder, { rebuilt: (reason) => reasons.push(reason) })
  expect(await index.begin(2, [1])).toEqual(new Map())
  expect(reasons).toEqual([expect.stringMatching(/./)])
  await index.update({ session, entry, turns: [turn('a', 'word')] })
  expect((await index.find(word('word'))).found).toHaveLength(1)
})

test('[Q27] [F-02] damage that is found later is reported as damage, and clearing the index repairs it', async () => {
  const folder = await filledFolder('word')
  const path = join(folder, 'search.db')
  zeroTable(path, 'words_data')
  const index = open(folder)
  await index.begin(2, [1])
  await expect(index.find(word('word'))).rejects.toMatchObject({ name: 'IndexDamaged' })
  await index.clear()
  expect(await index.begin(2, [1])).toEqual(new Map())
  await index.update({ session, entry, turns: [turn('a', 'word')] })
  expect((await index.find(word('word'))).found).toHaveLength(1)
})

test('[Q27.3] [Q27] an index that is opened for reading is searched, and not changed', async () => {
  const folder = await filledFolder('word')
  const before = readFileSync(join(folder, 'search.db'))
  const index = open(folder, { readOnly: true })
  expect((await index.find(word('word'))).found).toHaveLength(1)
  await index.close()
  expect(readFileSync(join(folder, 'search.db')).equals(before)).toBe(true)
})

test('[Q20] a search does not wait for a long deletion', async () => {
  const folder = newFolder()
  const index = open(folder)
  await index.begin(1, [])
  const text = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ')
  const turns = Array.from({ length: 300 }, (_, i) => turn(`t${i}`, text))
  await index.update({ session, entry, turns })
  let deleted = false
  const deleting = index.update({ session }).then(() => (deleted = true))
  await index.find(word('word1'))
  expect(deleted).toBe(false)
  await deleting
  expect((await index.find(word('word1'))).found).toEqual([])
})

test('[Q27] a closed index refuses requests', async () => {
  const index = open(newFolder())
  await index.close()
  await expect(index.find(word('word'))).rejects.toThrow('closed')
})

/** Overwrites the first page of a table, as a bad disk might. */
function zeroTable(path: string, table: string): void {
  const url = pathToFileURL(path)
  url.searchParams.set('immutable', '1')
  const db = new DatabaseSync(url, { readOnly: true })
  const found = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)
  db.close()
  const bytes = readFileSync(path)
  bytes.fill(0, 4096 * (Number(found?.['rootpage']) - 1), 4096 * Number(found?.['rootpage']))
  writeFileSync(path, bytes)
}

function alter(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(`PRAGMA journal_mode = DELETE; ${sql}`)
  db.close()
}
