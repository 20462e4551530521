import { readBudgetOf } from './read-budget.ts'
import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { w } from '../../../test/files-host.ts'
import { Client, testHost } from '../../../test/test-host.ts'
import type { ContentEncoder } from '../../ports/content-encoder.ts'
import type { ContainedPath } from '../../ports/files.ts'

const MiB = 1024 * 1024

/** Files that count the large contents which they hand out. */
class CountedFiles extends FakeFiles {
  contents = 0

  override async read(place: ContainedPath, most: number): Promise<Uint8Array> {
    const bytes = await super.read(place, most)
    if (bytes.length >= MiB) this.contents++
    return bytes
  }
}

/** A host with a file of 1 MiB, and a client whose answers arrive only when it reads. */
async function stalledReader(encoder?: ContentEncoder) {
  const files = new CountedFiles()
  files.put('/w/large', new Uint8Array(MiB).fill(97))
  files.put('/w/small', 'small')
  const limits = { readBytes: MiB, readingBytes: 3 * MiB, readingBytesOfAll: 6 * MiB }
  const all = await testHost({ machine: { files, ...(encoder && { encoder }) }, limits })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  await ann.ask('createSession', { channel: 's:/1', workingDirectories: [w] })
  const join = async (clientId: string) => {
    let unread: (() => void)[] | undefined
    const [near, far] = all.wire('owner', (task) => (unread ? void unread.push(task) : queueMicrotask(task)))
    const client = new Client(far)
    await client.initialize(clientId)
    /** Sends requests, and reads none of the answers. */
    const flood = (count: number) => {
      const asked = Array.from({ length: count }, () => client.ask('resourceRead', { uri: `${w}/large` }))
      for (const each of asked) each.catch(() => undefined)
      queueMicrotask(() => (unread = []))
      return asked
    }
    const read = async () => {
      while (unread && unread.length > 0) {
        for (const task of unread.splice(0)) task()
        await settled()
      }
    }
    return { client, near, flood, read }
  }
  return { all, ann, files, join }
}

/** Resolves when everything that can go on without a client has been done. */
async function settled(): Promise<void> {
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve))
}

test('[Q12] [I10] of 100 large reads whose answers nobody reads, three are open at once', async () => {
  const { all, files, join } = await stalledReader()
  const { flood, read } = await join('greedy')
  const asked = flood(100)
  await settled()
  expect(files.contents).toBe(3)
  expect(readBudgetOf(all.core()).held).toBeLessThanOrEqual(4 * MiB)
  await read()
  expect(await Promise.all(asked)).toHaveLength(100)
  await settled()
  expect([files.contents, readBudgetOf(all.core()).held]).toEqual([100, 0])
})

test('[Q12] [Q12.1] I13: another client reads files while a link waits with a hundred reads', async () => {
  const { ann, files, join } = await stalledReader()
  const { flood } = await join('greedy')
  void flood(100)
  await settled()
  expect(await ann.ask('resourceRead', { uri: `${w}/small` })).toMatchObject({ data: 'small' })
  const large = await ann.ask('resourceRead', { uri: `${w}/large` })
  expect([large.data.length, files.contents]).toEqual([MiB, 4])
  expect(await ann.ask('resourceList', { uri: w })).toMatchObject({ entries: [{ name: 'large' }, {}] })
})

test('[Q12] [Q12.2] when a link closes, its waiting reads open no file, and its budget is free again', async () => {
  const { all, files, join } = await stalledReader()
  const { near, flood, read } = await join('greedy')
  void flood(100)
  await settled()
  near.close()
  await read()
  await settled()
  expect([files.contents, readBudgetOf(all.core()).held, readBudgetOf(all.core()).size]).toEqual([3, 0, 0])
})

test('[Q12] [Q12.4] [I14] large content goes through the encoder as bytes; content of a closed link does not', async () => {
  let encoded = 0
  const encoder: ContentEncoder = {
    encode: async (bytes) => {
      encoded++
      return new TextEncoder().encode(JSON.stringify({ data: `é ${bytes.length}`, encoding: 'utf-8' }))
    },
  }
  const { all, ann, files } = await stalledReader(encoder)
  expect(await ann.ask('resourceRead', { uri: `${w}/small` })).toMatchObject({ data: 'small' })
  expect(encoded).toBe(0)
  expect(await ann.ask('resourceRead', { uri: `${w}/large` })).toEqual({
    data: `é ${MiB}`,
    encoding: 'utf-8',
  })
  let release = () => {}
  const reading = new Promise<void>((resolve) => (release = resolve))
  const read = files.read.bind(files)
  files.read = async (...args) => {
    const bytes = await read(...args)
    await reading
    return bytes
  }
  const left = ann.ask('resourceRead', { uri: `${w}/large` }).catch((error: unknown) => error)
  await settled()
  ann.peer.close()
  await left
  release()
  await settled()
  expect([encoded, readBudgetOf(all.core()).held]).toEqual([1, 0])
})
