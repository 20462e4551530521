import { expect, onTestFinished, test } from 'vitest'
import pg from 'pg'
import { PostgresServer } from './server.ts'

test('a server keeps its port, its password and its data over a kill, a stop and a start', async ({
  skip,
}) => {
  const password = 'a "pässword\''
  const server = (await PostgresServer.make({ password, small: true })) ?? skip('skipped: no postgres')
  onTestFinished(() => server.close())
  const { port } = server
  const query = async (text: string) => {
    const place = { host: '127.0.0.1', port, user: 'atrium', database: 'postgres' }
    const client = new pg.Client({ ...place, password })
    await client.connect()
    const { rows } = await client.query<{ one: number }>(text)
    await client.end()
    return rows
  }
  await query('CREATE TABLE t AS SELECT 1 AS one')
  for (const end of [() => server.kill(), () => server.stop()]) {
    await end()
    expect(server.runs).toBe(false)
    await expect(query('SELECT one FROM t')).rejects.toThrow('ECONNREFUSED')
    await server.start()
    expect(await query('SELECT one FROM t')).toEqual([{ one: 1 }])
  }
})
