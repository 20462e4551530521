import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { postgresTests } from '../../../../test/postgres/store.ts'
import { applicationName } from '../session.ts'

const server = postgresTests()

/** A program that opens and closes a connection, and prints what would keep its thread alive. */
const closing = `
  const { Link } = await import(process.env.LINK)
  const link = new Link({ target: JSON.parse(process.env.PLACE), patience: 1000, answer: 250_000, idle: 250_000 })
  await link.run((query) => query('SELECT 1'))
  await link.close()
  console.log(JSON.stringify(process.getActiveResourcesInfo().filter((name) => /Timeout|TCP/.test(name))))
  process.exit(0)
`

test('[L56.6] a connection that is closed leaves no timer and no socket, so its thread ends at once', async () => {
  const env = {
    LINK: new URL('../../../../dist/store/postgres/link.js', import.meta.url).href,
    PLACE: JSON.stringify(await server().place()),
  }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', closing], { env })
  expect(JSON.parse(stdout)).toEqual([])
})

test.each([
  ['a node', { schema: 'atrium', node: 'one:47' }, 'atrium/atrium/one:47'],
  ['no node', { schema: 'atrium' }, 'atrium/atrium'],
  ['letters that a server replaces', { schema: 'atrium', node: 'häuser:1' }, 'atrium/atrium/h?user:1'],
  ['a long schema', { schema: 's'.repeat(51), node: 'one:47' }, `atrium/${'s'.repeat(49)}/one:47`],
  [
    'a long machine',
    { schema: 's'.repeat(51), node: 'm'.repeat(80) },
    `atrium/${'s'.repeat(24)}/${'m'.repeat(31)}`,
  ],
])('[L56.7] the name of a connection with %s has at most 63 bytes', (_, target, name) => {
  expect(applicationName(target)).toBe(name)
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63)
})
