import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { postgresTests } from '../../../adapters/test/postgres/store.ts'
import { atrium, bin, documents } from '../../test/command.ts'
import { onlyGuide } from '../../test/only-guide.ts'

const server = postgresTests()

/** Runs a host while a function runs. Returns everything that the host has written. */
async function serving(
  home: string,
  flags: readonly string[],
  env: NodeJS.ProcessEnv,
  work: () => Promise<void>,
) {
  const child = spawn(
    process.execPath,
    [bin, 'serve', '--json', '--port', '0', '--log-level', 'debug', ...flags],
    {
      env: { PATH: process.env['PATH'], HOME: home, ATRIUM_HOME: join(home, 'data'), ...onlyGuide(), ...env },
    },
  )
  let written = ''
  child.stderr.on('data', (data: Buffer) => (written += data.toString()))
  const exited = once(child, 'exit')
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => (written += line))
  const [line] = await Promise.race([once(lines, 'line'), exited])
  expect([line, written]).toEqual([expect.stringContaining('url'), expect.any(String)])
  try {
    await work()
  } finally {
    child.kill('SIGTERM')
    await exited
  }
  return written
}

test('[L56] [L58] a session that was begun on a database is there after a move to a folder, and no output has the password', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-pg-home-'))
  const place = await server().place()
  const { host, port, user, database } = place.config
  const url = `postgres://${user}@${host}:${port}/${database}?schema=${place.schema}`
  const env = { PGPASSWORD: server().password }
  const sessions = async () => documents((await atrium(home, ['ls', '--json'])).stdout)
  let listed: readonly object[] = []
  let written = await serving(home, ['--store', url], env, async () => {
    const ran = await atrium(home, ['run', '--no-start', '--json', 'hello'], { env: onlyGuide() })
    expect(ran).toMatchObject({ status: 0 })
    listed = await sessions()
    expect(listed).toHaveLength(1)
  })
  const folder = join(home, 'moved')
  const moved = await atrium(home, ['move', '--from', url, '--to', folder, '--json'], { env })
  expect(moved).toMatchObject({ status: 0, stderr: '' })
  written += await serving(home, ['--data', folder], { ATRIUM_HOME: folder }, async () => {
    const there = await atrium(home, ['ls', '--json', '--data', folder])
    expect(documents(there.stdout)).toHaveLength(1)
  })
  const failed = await atrium(home, ['serve', '--store', url], { env: { PGPASSWORD: 'a wrong one' } })
  expect(failed).toMatchObject({ status: 1, stderr: expect.stringContaining('does not let the user') })
  for (const text of [written, moved.stdout, moved.stderr, failed.stderr, failed.stdout]) {
    expect(text).not.toContain(server().password)
    expect(text).not.toContain('a wrong one')
  }
})
