import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { atrium } from '../../../test/command.ts'
import { statusText } from './status.ts'

const host = '5f0c7e0e-3f6f-4f0e-9d0a-0a5b7c1d2e3f'
const lease = { epoch: 7, node: 'one:12', url: 'ws://one:7433/', msLeft: 9500 }

test('[L59] the status names the owner, its epoch and the end of the lease', () => {
  const replicas = [{ name: 'copy', state: 'streaming', sync: 'sync', lagMs: 3.2, lagBytes: 4096 }]
  expect(statusText({ host, lease, replicas }, 'db:5432/atrium')).toBe(
    `store     db:5432/atrium, of the host ${host}\n` +
      'owner     one:12 at ws://one:7433/\n' +
      'epoch     7\n' +
      'lease     ends in 9.5 s, unless it is renewed\n' +
      'replicas  copy (streaming, sync, 3 ms behind)\n',
  )
})

test('[L59] the status of a store without an owner names the last one', () => {
  const free = { host, lease: { ...lease, msLeft: 0 }, replicas: [] }
  expect(statusText(free, 'db')).toContain(
    'owner     none; the last one was one:12 at ws://one:7433/, in epoch 7\n',
  )
  expect(statusText({ host, replicas: [] }, 'db')).toContain('owner     none yet\n')
})

test('[L59] without a database the command says how to name one', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-cluster-'))
  const ran = await atrium(home, ['cluster', 'status'])
  expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining('name it with --store') })
})
