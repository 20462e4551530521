import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { trusting } from '@atrium/client/shared/check'
import { Client } from '@atrium/client/client'
import { newId, world } from '@atrium/client/shared/globals'
import { expect, test } from 'vitest'
import { atrium, documents } from '../../test/command.ts'
import { sessionOf, setTitle } from '../../test/client.ts'
import { HostProcess } from '../../test/host-process.ts'

test.each([
  ['after an earlier run', true],
  ['in the first run', false],
])('[L8.9] [Z28] [F-03] [I12] host, doctor and clients say the journal was lost %s', async (_, earlier) => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-lost-'))
  let host = await HostProcess.start(home)
  if (earlier) {
    await host.stop()
    host = await HostProcess.start(home)
  }
  const client = new Client({
    clientId: newId(),
    versions: ['1.0.0'],
    world,
    check: trusting,
    open: () => host.dial(),
  }).connect()
  const told = new Promise<string>((resolve) =>
    client.onProblem(({ kind, detail }) => kind === 'rollback' && resolve(detail)),
  )
  const chat = await sessionOf(client, 'one')
  // An action is confirmed only after the bound of the action before it is written.
  for (const title of ['a', 'b']) await setTitle(client, 'ahp-session:/one', title)
  await host.kill()
  rmSync(join(home, 'data', 'atrium.db-wal'))

  const doctor = async () => documents((await atrium(home, ['doctor', '--json'])).stdout)
  const finding = expect.objectContaining({
    about: 'store',
    level: expect.not.stringMatching('ok') as string,
    detail: expect.stringMatching(/has lost (its newest changes|everything), although/) as string,
  }) as object
  expect(await doctor()).toContainEqual(finding)
  const log = openSync(join(home, 'log'), 'w')
  host = await HostProcess.start(home, log)
  client.connect()
  expect(await told).toContain('has lost its newest changes')
  await expect(chat.until(() => false)).rejects.toThrow('ahp-chat:')
  expect(await doctor()).toContainEqual(finding)
  client.close()
  await host.stop()
  closeSync(log)
  expect(readFileSync(join(home, 'log'), 'utf8')).toMatch(
    /^atrium: The store in .* has lost (its newest changes|everything, all sessions)/m,
  )

  // The next host has lost nothing more.
  host = await HostProcess.start(home)
  expect(await doctor()).not.toContainEqual(finding)
  await host.stop()
})
