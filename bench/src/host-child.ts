import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@atrium/adapters/store-sqlite'
import { answerQuestions } from './child.ts'

// The real host with its real store, without the command line around it.
const folder = process.env['BENCH_DATA'] ?? mkdtempSync(join(tmpdir(), 'atrium-bench-'))
// As the command does: the store opens in its own thread while the rest is loaded.
const [store, { createHost }, { listen }, { nodeWorld }] = await Promise.all([
  openSqlite(folder),
  import('@atrium/host/host'),
  import('@atrium/adapters/listen'),
  import('@atrium/adapters/world-node'),
])
const info = { provider: 'bench', displayName: 'Bench', description: '', models: [] }
const agents = [{ info, resumes: false, async *run() {} }]
const host = await createHost({
  store,
  world: nodeWorld(() => {}),
  agents,
  fatal: (error) => console.error(error),
})
const listening = await listen({
  host: '127.0.0.1',
  port: 0,
  token: undefined,
  connect: (...link) => host.connect(...link),
})
answerQuestions(listening.port, async () => {
  await host.close()
  await listening.close()
  rmSync(folder, { recursive: true, force: true })
})
