import { expect, test } from 'vitest'
import type { Opened } from './fixture.contract.ts'

const mine = 'ahp-session:/1'
const yours = 'ahp-session:/2'

/** The suite for the blobs of a store. */
export function blobsContract(name: string, open: () => Promise<Opened>): void {
  test(`[L10] ${name}: a blob is found by the hash of its bytes, without a flush, after a reopen too`, async () => {
    const { store, reopen } = await open()
    const hash = await store.blobs.put(mine, bytes('hello'))
    expect(hash).toBe('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824')
    expect(await store.blobs.get(mine, hash)).toEqual(bytes('hello'))
    expect(await (await reopen()).blobs.get(mine, hash)).toEqual(bytes('hello'))
  })

  test(`[L10] ${name}: equal bytes have one hash, and an unknown hash is not found`, async () => {
    const { blobs } = (await open()).store
    expect(await blobs.put(mine, bytes('hello'))).toBe(await blobs.put(mine, bytes('hello')))
    expect(await blobs.put(mine, bytes(''))).not.toBe(await blobs.put(mine, bytes('hello')))
    expect(await blobs.get(mine, 'no such hash')).toBeUndefined()
  })

  test(`[L10] ${name}: later changes of the caller's array do not change the blob`, async () => {
    const { blobs } = (await open()).store
    const given = bytes('xhellox').subarray(1, 6)
    const put = blobs.put(mine, given)
    given.fill(0)
    const got = await blobs.get(mine, await put)
    expect(got).toEqual(bytes('hello'))
    got?.fill(0)
    expect(await blobs.get(mine, await put)).toEqual(bytes('hello'))
  })

  test(`[L8] ${name}: blobs belong to their session and are dropped with it`, async () => {
    const { store, reopen } = await open()
    const hash = await store.blobs.put(mine, bytes('hello'))
    expect(await store.blobs.get(yours, hash)).toBeUndefined()
    await store.blobs.put(yours, bytes('hello'))
    await store.blobs.drop(mine)
    const { blobs } = await reopen()
    expect(await blobs.get(mine, hash)).toBeUndefined()
    expect(await blobs.get(yours, hash)).toEqual(bytes('hello'))
  })

  test(`[L10] ${name}: a blob of 5 MB is stored`, async () => {
    const { store, reopen } = await open()
    const large = new Uint8Array(5_000_000).map((_, i) => i % 251)
    const hash = await store.blobs.put(mine, large)
    const got = await (await reopen()).blobs.get(mine, hash)
    expect(got && Buffer.from(got).equals(large)).toBe(true)
  })
}

const bytes = (text: string) => new TextEncoder().encode(text)
