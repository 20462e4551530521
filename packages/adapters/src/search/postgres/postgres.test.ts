import { expect, onTestFinished, test } from 'vitest'
import { searchContract } from '../../../../host/src/ports/contracts/search.contract.ts'
import { epochOf, postgresTests } from '../../../test/postgres/store.ts'
import { tamper } from '../../../test/postgres/place.ts'
import type { PostgresPlace } from '../../store/postgres/place.ts'
import { postgresSearch } from './postgres.ts'
import type { PostgresSearchOptions } from './postgres.ts'

const server = postgresTests()
const entry = {
  provider: 'mock',
  folders: [],
  title: '',
  time: 0,
  chats: [{ chat: 'ahp-chat:/1', title: '' }],
}
const word = (text: string) => ({ terms: [{ text, prefix: false }], limit: 10 })
const turn = (turnId: string, text: string) => ({
  chat: 'ahp-chat:/1',
  turnId,
  texts: [{ who: 'user' as const, time: 0, text }],
})

async function open(place: PostgresPlace, options: PostgresSearchOptions = {}) {
  const index = await postgresSearch(place, { epoch: await epochOf(place), ...options })
  onTestFinished(() => index.close())
  return index
}

searchContract('PostgreSQL', async () => {
  const place = await server().place()
  const index = await open(place)
  return {
    index,
    async reopen() {
      await index.close()
      return open(place)
    },
  }
})

test('[L41] changes of the index by an earlier epoch are refused', async () => {
  const place = await server().place()
  const index = await open(place)
  await index.begin(1, [])
  await index.update({ session: 'ahp-session:/1', entry, turns: [turn('a', 'word')] })
  const next = await open(place)
  for (const write of [
    () => index.begin(2, []),
    () => index.update({ session: 'ahp-session:/1' }),
    () => index.clear(),
  ])
    await expect(write()).rejects.toMatchObject({ name: 'Deposed' })
  expect((await next.find(word('word'))).found).toHaveLength(1)
})

test('[L57] [Q27] an index of another version is built again, and a long word is found', async () => {
  const place = await server().place()
  const index = await open(place)
  await index.begin(1, [])
  const long = 'x'.repeat(9000)
  await index.update({ session: 'ahp-session:/1', entry, turns: [turn('a', `${long}y ${long}z`)] })
  expect((await index.find(word(`${long}z`))).found).toHaveLength(1)
  expect((await index.find(word(`${long}w`))).found).toEqual([])
  await tamper(
    { ...place, schema: `${place.schema}_search` },
    `UPDATE index_meta SET value = 0 WHERE key = 'version'`,
  )
  const reasons: string[] = []
  const again = await open(place, { rebuilt: (reason) => reasons.push(reason) })
  expect(reasons).toEqual(['it had version 0'])
  expect(await again.begin(2, [1])).toEqual(new Map())
})

test('[L57.1] a schema with the tables of another program is left alone, and the index is refused', async () => {
  const place = await server().place()
  const taken = { ...place, schema: `${place.schema}_search` }
  await tamper(place, `CREATE SCHEMA ${taken.schema} CREATE TABLE invoices (number int)`)
  await expect(open(place)).rejects.toMatchObject({
    name: 'StoreUnreadable',
    message: expect.stringContaining(`"${taken.schema}"`),
  })
  expect(await tamper(taken, 'SELECT * FROM invoices')).toEqual([])
})

test('[L57.1] another store in the schema of the index is left alone, and the index is refused', async () => {
  const place = await server().place()
  const other = { ...place, schema: `${place.schema}_search` }
  const epoch = await epochOf(other)
  await expect(open(place)).rejects.toThrow('has the tables of another program')
  expect(await tamper(other, 'SELECT epoch::int FROM lease')).toEqual([{ epoch }])
})

test('[L57] an empty schema is taken, and tables that came later outlive another version of the index', async () => {
  const place = await server().place()
  const beside = { ...place, schema: `${place.schema}_search` }
  await tamper(place, `CREATE SCHEMA ${beside.schema}`)
  await open(place)
  await tamper(beside, 'CREATE TABLE invoices AS SELECT 1 AS number')
  await tamper(beside, `UPDATE index_meta SET value = 0 WHERE key = 'version'`)
  const index = await open(place)
  expect(await index.begin(2, [1])).toEqual(new Map())
  expect(await tamper(beside, 'SELECT number FROM invoices')).toEqual([{ number: 1 }])
  await tamper(beside, `DELETE FROM index_meta WHERE key = 'version'`)
  await expect(open(place)).rejects.toThrow('has the tables of another program')
})
