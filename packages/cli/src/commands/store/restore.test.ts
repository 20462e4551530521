import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { trusting } from '@atrium/client/shared/check'
import { Client } from '@atrium/client/client'
import { newId, world } from '@atrium/client/shared/globals'
import { expect, onTestFinished, test } from 'vitest'
import { atrium, documents } from '../../../test/command.ts'
import { sessionOf, setTitle } from '../../../test/client.ts'
import { HostProcess } from '../../../test/host-process.ts'

test('[L61] [L61.1] [L61.2] [L61.3] [L8.10] a copy of a killed host is restored with its journal, beside no running host, and what was there is kept', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-restore-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const data = join(home, 'data')
  const copy = join(home, 'copy')
  let host = await HostProcess.start(home)
  const connect = () =>
    new Client({
      clientId: newId(),
      versions: ['1.0.0'],
      world,
      check: trusting,
      open: () => host.dial(),
    }).connect()
  let client = connect()
  await sessionOf(client, 'one')
  for (const title of ['a', 'b', 'kept']) await setTitle(client, 'ahp-session:/one', title)

  const refused = await atrium(home, ['restore', copy, '--data', data])
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('There is no atrium.db in')])
  cpSync(data, copy, { recursive: true })
  const beside = await atrium(home, ['restore', copy, '--data', data])
  expect([beside.status, beside.stderr]).toEqual([
    1,
    expect.stringMatching(/is in use by process \d+; end it first: atrium stop.* Nothing was changed/),
  ])
  await setTitle(client, 'ahp-session:/one', 'newer')
  client.close()
  await host.kill()
  const bound = readFileSync(join(data, 'atrium.upto'), 'utf8')
  const journal = statSync(join(data, 'atrium.db-wal')).size

  // The database is emptied, and its journal is not: the host refuses, and keeps the journal.
  truncateSync(join(data, 'atrium.db'))
  const served = await atrium(home, ['serve', '--data', data, '--port', '0'])
  expect([served.status, served.stderr]).toEqual([
    1,
    expect.stringMatching(/is empty or gone, and its journal .* Nothing was changed/),
  ])
  expect(statSync(join(data, 'atrium.db-wal')).size).toBe(journal)

  const { status, stdout } = await atrium(home, ['restore', copy, '--data', data, '--json'])
  expect([status, documents(stdout)]).toMatchObject([
    0,
    [{ sessions: 1, damaged: [], incomplete: false, boundKnown: true }],
  ])
  const [aside = ''] = readdirSync(data).filter((name) => name.startsWith('before-restore-'))
  expect(statSync(join(data, aside, 'atrium.db-wal')).size).toBe(journal)
  expect(Number.parseInt(readFileSync(join(data, 'atrium.upto'), 'utf8'), 10)).toBeGreaterThanOrEqual(
    Number.parseInt(bound, 10),
  )
  expect(readdirSync(data).filter((name) => name.startsWith('restoring-'))).toEqual([])

  host = await HostProcess.start(home)
  client = connect()
  const listed = await atrium(home, ['ls', '--data', data, '--json', '--all'])
  expect(listed.stdout).toContain('kept')
  await setTitle(client, 'ahp-session:/one', 'after')
  client.close()
  await host.stop()
})
