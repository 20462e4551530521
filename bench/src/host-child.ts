import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@atrium/adapters/store/sqlite'
import { answerParent } from './child.ts'

// The real host and store without the command line. Arguments: `data=FOLDER` names a data folder that stays after the
// end, `guide` adds the built-in agent, `acp` an ACP agent in its own process, `machine` files and terminals, `search` an index.
const kept = process.argv.find((arg) => arg.startsWith('data='))?.slice(5)
const folder = kept ?? mkdtempSync(join(tmpdir(), 'atrium-bench-'))
// The store opens in its own thread while the other modules load, as in `atrium serve`.
const [store, { createHost }, { listen }, { nodeWorld }] = await Promise.all([
  openSqlite(folder),
  import('@atrium/host'),
  import('@atrium/adapters/server'),
  import('@atrium/adapters/process/world'),
])
const info = { provider: 'bench', displayName: 'Bench', description: '', models: [] }
const world = nodeWorld(() => {})
const acp = process.argv.includes('acp') ? (await import('./agent/scripted.ts')).scripted(world) : undefined
const own = process.argv.includes('guide')
  ? [(await import('@atrium/adapters/guide')).guide(world.later)]
  : []
const silentAgent = { info, resumes: false, async *run() {} }
const agents = [...own, ...(acp ? [acp] : [])]
const machine = process.argv.includes('machine')
  ? {
      files: (await import('@atrium/adapters/files')).nodeFiles(),
      encoder: (await import('@atrium/adapters/content')).threadEncoder(),
      terminals: (await import('@atrium/adapters/terminals')).ptyTerminals(),
    }
  : {}
const search = process.argv.includes('search')
  ? { search: (await import('@atrium/adapters/search/sqlite')).sqliteSearch(folder) }
  : {}
const host = await createHost({
  store,
  ...search,
  world,
  agents: agents.length > 0 ? agents : [silentAgent],
  ...machine,
  fatal: (error) => console.error(error),
})
const listening = await listen({
  host: '127.0.0.1',
  port: 0,
  token: undefined,
  connect: (...link) => host.connect(...link),
})
answerParent(listening.port, async () => {
  await host.close()
  await acp?.close()
  await listening.close()
  if (kept === undefined) rmSync(folder, { recursive: true, force: true })
})
