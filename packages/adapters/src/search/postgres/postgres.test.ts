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
