import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { tamper } from '../../../../test/postgres/place.ts'
import { epochOf, open, postgresTests } from '../../../../test/postgres/store.ts'
import { statementOf } from '../statement.ts'

const server = postgresTests()

const one = {
  created: { id: 7, key: 'k', uri: 'u', kind: 'chat', seq: 1, state: '{}', sum: 1 },
  envelopes: { seq: 9, channel: 7, action: '{}', origin: null, key: null, sum: 1, chain: 1 },
  tails: { id: 7, seq: 9, chain: 1, rows: 0, places: 0 },
  rows: { channel: 7, key: 'r', id: 'r', place: 1, text: 't', sum: 1 },
  deleted: { channel: 7, key: 's' },
  heads: { channel: 7, seq: 9, state: '{}', chain: 1, sum: 1 },
  put: { key: 'p', name: 'p', text: 't' },
  gone: { key: 'g' },
}
type Member = keyof typeof one
const members = Object.keys(one) as readonly Member[]

/** The statement of a batch that has one row for each of some members. */
function batchOf(bounds: { epoch: number; before: number }, used: ReadonlySet<Member>) {
  const rows = (member: Member) => (used.has(member) ? [one[member]] : [])
  const part = {
    created: rows('created'),
    envelopes: rows('envelopes'),
    tails: rows('tails'),
    rows: rows('rows'),
    deleted: rows('deleted'),
    heads: rows('heads'),
  }
  const records = { put: rows('put'), deleted: rows('gone') }
  return statementOf({ ...bounds, batch: bounds.before + 1, upTo: 1000 }, part, records)
}

test('[L41] a batch of any shape is refused after its epoch, and one that is not the next writes nothing', async () => {
  const place = await server().place()
  await open(place)
  const epoch = await epochOf(place)
  const client = new pg.Client(place.config)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`SET search_path TO ${place.schema}`)
  const names = new Map<string, string>()
  const answer = async (bounds: { epoch: number; before: number }, used: ReadonlySet<Member>) => {
    const { statement, values } = batchOf(bounds, used)
    expect(names.get(statement.name) ?? statement.text).toBe(statement.text)
    names.set(statement.name, statement.text)
    return (await client.query<object>({ ...statement, values: [...values] })).rows
  }
  for (let bits = 0; bits < 2 ** members.length; bits++) {
    const used = new Set(members.filter((_, at) => bits & (1 << at)))
    expect(await answer({ epoch: epoch - 1, before: 0 }, used)).toEqual([{ fence: 0, turn: 0 }])
    expect(await answer({ epoch, before: 999 }, used)).toEqual([{ fence: 1, turn: 0 }])
  }
  const written = ['channels', 'envelopes', 'tails', 'rows', 'heads', 'records']
  for (const table of written) expect(await tamper(place, `SELECT * FROM ${table}`)).toEqual([])
  expect(await answer({ epoch, before: 0 }, new Set(members))).toEqual([{ fence: 1, turn: 1 }])
  for (const table of written) expect(await tamper(place, `SELECT * FROM ${table}`)).toHaveLength(1)
  expect(names.size).toBe(2 ** members.length)
})
