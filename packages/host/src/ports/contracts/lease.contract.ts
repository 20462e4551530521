import { describe, expect, test } from 'vitest'
import type { Lease } from '../lease.ts'

/** A lease that several nodes compete for. */
export interface LeaseBench {
  /** The length of the lease in milliseconds. */
  readonly ms: number
  /** Returns the lease as a node of this name sees it. */
  node(name: string): Lease
  /** Lets time pass at the clock of the store. */
  pass(ms: number): Promise<void>
}

/** The suite that every adapter of `Lease` passes. */
export function leaseContract(name: string, open: () => Promise<LeaseBench>): void {
  /** Opens two nodes. The first one has acquired the lease. */
  const held = async () => {
    const bench = await open()
    const [one, two] = [bench.node('one'), bench.node('two')]
    return { ...bench, one, two, epoch: epochOf(await one.acquire()) }
  }

  describe(`${name}: lease`, () => {
    test('[L40.1] a lease that nobody ever had is undefined, and can be taken', async () => {
      const { node, ms } = await open()
      const one = node('one')
      expect(await one.read()).toBeUndefined()
      const epoch = epochOf(await one.acquire())
      expect(epoch).toBeGreaterThan(0)
      const state = await node('two').read()
      expect(state).toMatchObject({ epoch, node: 'one', url: 'ws://one/' })
      expect(state?.msLeft).toBeGreaterThan(0)
      expect(state?.msLeft).toBeLessThanOrEqual(ms)
      expect(one.ms).toBe(ms)
    })

    test('[L40] of many nodes that try at once, one gets the lease', async () => {
      const { node } = await open()
      const epochs = await Promise.all(['a', 'b', 'c', 'd'].map((each) => node(each).acquire()))
      expect(epochs.filter((epoch) => epoch !== undefined)).toHaveLength(1)
    })

    test('[L40.2] nobody takes a lease that is held, not even a node of the same name', async () => {
      const { node, two } = await held()
      expect(await two.acquire()).toBeUndefined()
      expect(await node('one').acquire()).toBeUndefined()
    })

    test('[L40.1] [L40.3] an expired lease is taken with a higher epoch, and the earlier owner is told', async () => {
      const { ms, pass, one, two, epoch } = await held()
      await pass(ms + 1)
      expect(await one.read()).toMatchObject({ epoch, msLeft: 0 })
      const next = epochOf(await two.acquire())
      expect(next).toBeGreaterThan(epoch)
      expect(await one.renew(epoch)).toBe(false)
      expect(await one.acquire()).toBeUndefined()
    })

    test('[L40] [L40.3] a renewed lease lasts from its renewal', async () => {
      const { ms, pass, one, two, epoch } = await held()
      await pass(ms + 1)
      expect(await one.renew(epoch)).toBe(true)
      expect(await two.acquire()).toBeUndefined()
      expect((await two.read())?.epoch).toBe(epoch)
    })

    test('[L40.1] a released lease can be taken at once, with a higher epoch', async () => {
      const { one, two, epoch } = await held()
      await one.release(epoch)
      expect((await two.read())?.msLeft).toBe(0)
      expect(epochOf(await two.acquire())).toBeGreaterThan(epoch)
    })

    test('[L40] the release of an earlier epoch does nothing', async () => {
      const { node, one, two, epoch } = await held()
      await one.release(epoch)
      const next = epochOf(await two.acquire())
      await one.release(epoch)
      expect(await node('three').acquire()).toBeUndefined()
      expect(await two.renew(next)).toBe(true)
    })
  })
}

function epochOf(epoch: number | undefined): number {
  if (epoch === undefined) throw new Error('the lease was not free')
  return epoch
}
