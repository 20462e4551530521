import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { TestContext } from 'vitest'
import { serverUser } from '../../../../proof/src/postgres/programs.ts'
import type { PostgresPlace } from '../../src/store/postgres/place.ts'

export interface PoolerOptions {
  readonly mode: 'session' | 'transaction' | 'statement'
  /** The most connections to the server. */
  readonly size?: number
}

/** Starts PgBouncer before the server of a place. Returns the place behind it. Skips the test if there is no PgBouncer. */
export async function behindPooler(
  context: TestContext,
  place: PostgresPlace,
  { mode, size = 5 }: PoolerOptions,
): Promise<PostgresPlace> {
  if (spawnSync('pgbouncer', ['--version']).status !== 0) return context.skip('skipped: no pgbouncer')
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'atrium-pgbouncer-'))
  const { host, port, password = '' } = place.config
  const listening = await freePort()
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    if (user) chownSync(join(folder, name), user.uid, user.gid)
    return join(folder, name)
  }
  const users = write('users', `"${place.user}" "${password.replaceAll('"', '""')}"\n`)
  const config = write(
    'pgbouncer.ini',
    `[databases]
* = host=${host} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listening}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${size}
`,
  )
  if (user) chownSync(folder, user.uid, user.gid)
  const child = spawn('pgbouncer', [config], { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const lines = createInterface(child.stderr)
  for await (const line of lines) if (line.includes('process up')) break
  child.stderr.resume()
  return { ...place, config: { ...place.config, port: listening } }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The cast is safe: `address()` returns a string only for a server on a pipe.
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
