import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { postgresTests } from '../packages/adapters/test/postgres/store.ts'

const server = postgresTests()

test('[A4] [L42] [L44] [L46] [V8] examples/failover.mjs: the owner is killed, and its sessions go on at the standby; what was approved is done once', async () => {
  const path = fileURLToPath(new URL('../examples/failover.mjs', import.meta.url))
  const { host, port, user, database } = (await server().place()).config
  const password = encodeURIComponent(server().password)
  const url = `postgres://${user}:${password}@${host}:${port}/${database}`
  const env = { ...process.env, ATRIUM_POSTGRES_URL: url }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [path], { env })
  expect({ lines: stdout.trimEnd().split('\n'), stderr }).toEqual({
    lines: [
      'Node one is the owner, node two a standby.',
      'An approval waits, which clients of 0.1, 0.9 and 1.0 see, and another turn is at work.',
      'The owner is killed, and node two takes over.',
      'What the three clients get there: replay, replay, replay',
      'The turn that was at work says: The host was stopped while the agent worked on this. The turn can be resumed until another one begins.',
      'The client of 0.1 approves at node two. Lines in done.txt: 1',
      'A session in a folder of node one: The folders of this session are on the machine "one", and this is "two". It can be read here, and works again when the host runs on that machine.',
      'Node one is started again, and is a standby.',
    ],
    stderr: '',
  })
})
