import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { postgresTests } from '../../../test/postgres/store.ts'

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
    LINK: new URL('./link.js', import.meta.url).href,
    PLACE: JSON.stringify(await server().place()),
  }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', closing], { env })
  expect(JSON.parse(stdout)).toEqual([])
})
