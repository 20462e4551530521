import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { w, hostWithFiles, grant } from '../../../test/files-host.ts'

test('[S-57 fileMs] at 30,000 ms the host still waits for the file system', () => hanging(29_999, false))
test('[S-57 fileMs] past 30,000 ms the request fails', () => hanging(30_000, true))

async function hanging(ms: number, fails: boolean): Promise<void> {
  const { all, ann, files } = await hostWithFiles()
  files.hangs = true
  let outcome: unknown
  const asked = ann.ask('resourceRead', { uri: `${w}/a.txt` }).catch((error: unknown) => {
    outcome = error
  })
  await ann.ask('ping', {})
  all.world.advance(ms)
  await ann.ask('ping', {})
  if (fails) await asked
  expect(outcome).toEqual(fails ? expect.objectContaining({ code: -32603 }) : undefined)
}

test('[S-57 grants] at 256 grants they are accepted', () => granting(256, undefined))
test('[S-57 grants] past 256 they are refused', () => granting(257, 'there are at most 256 grants'))

async function granting(count: number, reason: string | undefined): Promise<void> {
  const { ann } = await hostWithFiles()
  const grants = Array.from({ length: count }, (_, n) => ({ uri: `file:///srv/${n}` }))
  expect((await grant(ann, grants)).rejectionReason).toBe(reason)
}

test('[S-57 readBytes] at 16,777,216 bytes a file is read', () => large(limits.readBytes, true))
test('[S-57 readBytes] past 16,777,216 it is refused', () => large(limits.readBytes + 1, false))

async function large(bytes: number, whole: boolean): Promise<void> {
  const { ann, files } = await hostWithFiles()
  files.put('/w/large', new Uint8Array(bytes).fill(97))
  const answer = await ann.ask('resourceRead', { uri: `${w}/large` }).catch((error: unknown) => error)
  if (whole) expect((answer as { data: string }).data.length).toBe(bytes)
  else expect(answer).toMatchObject({ code: -32602 })
}

test('[S-57 entries] at 100,000 entries a directory is listed', () => crowded(100_000, true))
test('[S-57 entries] past 100,000 it is refused', () => crowded(100_001, false))

async function crowded(count: number, whole: boolean): Promise<void> {
  const { ann, files } = await hostWithFiles()
  for (let n = 0; n < count; n++) files.put(`/w/many/${n}`, '')
  const answer = await ann.ask('resourceList', { uri: `${w}/many` }).catch((error: unknown) => error)
  if (whole) expect((answer as { entries: unknown[] }).entries).toHaveLength(count)
  else expect(answer).toMatchObject({ code: -32602 })
}
