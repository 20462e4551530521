import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listen } from '@atrium/adapters/listen'
import { openSqlite } from '@atrium/adapters/store-sqlite'
import { nodeWorld } from '@atrium/adapters/world-node'
import { createHost } from '@atrium/host/host'
import { answerQuestions } from './child.ts'

// The real host with its real store, without the command line around it.
const folder = process.env['BENCH_DATA'] ?? mkdtempSync(join(tmpdir(), 'atrium-bench-'))
const store = await openSqlite(folder)
const agents = [{ provider: 'bench', displayName: 'Bench', description: '', models: [] }]
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
