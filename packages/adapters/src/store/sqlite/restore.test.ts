import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { envelope, step } from '../../../../host/src/ports/contracts/fixture.contract.ts'
import { filled, newFolder, one, open } from '../../../test/store-folder.ts'
import { restoreSqlite } from './restore.ts'

test('[L61] the journal of a copy is used, and does not come back beside the database that has it', async () => {
  const [live, copy, data] = [await filled(), newFolder(), newFolder()]
  const { log } = await open(live)
  log.append(step({ envelopes: [envelope(6000, one)] }))
  await log.flush()
  cpSync(live, copy, { recursive: true })
  expect(readdirSync(copy)).toContain('atrium.db-wal')
  await restoreSqlite(copy, data)
  expect(readdirSync(data)).not.toContain('atrium.db-wal')
  const restored = await (await open(data)).log.load(one)
  expect(restored).toMatchObject({ envelopes: expect.arrayContaining([envelope(6000, one)]) })
})

test('[L61.1] if something of the copy cannot be brought back, everything is as it was', async () => {
  const [copy, data] = [await filled(), await filled()]
  mkdirSync(join(copy, 'a'))
  execFileSync('mkfifo', [join(copy, 'z')])
  const bytes = () => readdirSync(data).map((name) => [name, readFileSync(join(data, name)).toString('hex')])
  const before = bytes()
  await expect(restoreSqlite(copy, data)).rejects.toThrow('FIFO')
  expect(bytes()).toEqual(before)
})

test('[L61.3] without the store that was there, nobody knows the numbers after the copy; with it, they are known', async () => {
  const copy = await filled()
  expect(await restoreSqlite(copy, newFolder())).toMatchObject({ boundKnown: false })
  expect(await restoreSqlite(copy, await filled())).toMatchObject({ boundKnown: true })
})
