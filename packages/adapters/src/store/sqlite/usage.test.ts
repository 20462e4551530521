import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { creation, envelope, range, step } from '../../../../host/src/ports/contracts/fixture.contract.ts'
import { sealAll } from '../../../../host/src/ports/contracts/seal.contract.ts'
import { newFolder, one, open, two } from '../../../test/store-folder.ts'
import { diskUsage } from './usage.ts'

const recorded = fileURLToPath(new URL('../../../test/data/earlier-build/atrium.db', import.meta.url))

test('[Z28] the disk usage has all bytes of the file, by part and by session, also while a host uses the store', async () => {
  const folder = newFolder()
  const { log, records, blobs } = await open(folder)
  const action = JSON.stringify({ text: 'word '.repeat(200) })
  const actions = range(2, 1000).map((seq) => ({ ...envelope(seq, seq % 4 ? one : two), action }))
  log.append(step({ created: [creation('s:/1', 1), creation(one, 1), creation(two, 1)], envelopes: actions }))
  records.put(
    'session/s:/1',
    // The sequence numbers of a session's changes come before its entry.
    `1001 1002${JSON.stringify({ resource: 's:/1', title: 'First', chats: [{ resource: one }] })}`,
  )
  records.put('session/s:/2', JSON.stringify({ resource: 's:/2', chats: [{ resource: two }] }))
  await log.flush()
  await blobs.put('s:/2', new Uint8Array(2_000_000))
  const sealed = await sealAll(log, one, 9999)
  writeFileSync(join(folder, 'atrium-v1-20260101T000000.000Z.db'), 'x'.repeat(5000))
  // The figures are of the file. A full journal is moved into the file during the writes above; the rest of it on closing.
  await log.close()
  const usage = diskUsage(folder)
  const bytesOf = (part: string) => usage.parts.find((each) => each.part === part)?.bytes ?? 0
  const countOf = (part: string) => usage.parts.find((each) => each.part === part)?.count
  expect(countOf('actions')).toBe(1000 - sealed)
  expect(countOf('sealed actions')).toBe(sealed)
  expect([countOf('blobs'), countOf('records'), countOf('backups')]).toEqual([1, 2, 1])
  expect(bytesOf('actions')).toBeGreaterThan((1000 - sealed) * action.length)
  expect(bytesOf('sealed actions')).toBeLessThan((sealed * action.length) / 20)
  expect(bytesOf('free pages')).toBeGreaterThan(500_000)
  expect(bytesOf('backups')).toBe(5000)
  const inFile = usage.parts.filter(({ part }) => !['journal', 'search index', 'backups'].includes(part))
  const total = inFile.reduce((sum, { bytes }) => sum + bytes, 0)
  const { length } = readFileSync(join(folder, 'atrium.db'))
  // The rest are the schema, the numbers of the store, and the pages that find free pages.
  expect(length - total).toBeGreaterThanOrEqual(0)
  expect(length - total).toBeLessThan(40_000)
  expect(usage.sessions).toMatchObject([
    { session: 's:/2', title: '' },
    { session: 's:/1', title: 'First' },
  ])
  expect(usage.sessions[0]?.bytes).toBeGreaterThan(2_000_000 + 250 * action.length)
  expect(diskUsage(folder, 1).sessions).toHaveLength(1)

  const again = await open(folder)
  again.log.append(step({ envelopes: [envelope(5000, one)] }))
  await again.log.flush()
  expect(diskUsage(folder).parts.find(({ part }) => part === 'journal')?.bytes).toBeGreaterThan(4096)
})

test('[Z28] the store of an earlier build can be measured before its migration', () => {
  const folder = newFolder()
  copyFileSync(recorded, join(folder, 'atrium.db'))
  const { parts, sessions } = diskUsage(folder)
  expect(parts.find(({ part }) => part === 'sealed actions')).toEqual({
    part: 'sealed actions',
    bytes: 0,
    count: 0,
  })
  expect(parts.find(({ part }) => part === 'actions')?.count).toBeGreaterThan(10)
  expect(sessions).toMatchObject([{ title: 'say hello world' }])
})
