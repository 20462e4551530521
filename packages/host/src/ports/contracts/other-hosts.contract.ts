import { describe, expect, test } from 'vitest'
import { wereActive } from '../other-hosts.ts'
import type { OtherHosts } from '../other-hosts.ts'

/** A machine with a folder, on which hosts are started. */
export interface HostBench {
  /** The path of a folder that exists, and that has the folder `sub`. */
  readonly directory: string
  /** Starts a host. */
  host(): OtherHosts
}

/** The suite that every adapter of `OtherHosts` passes. */
export function otherHostsContract(name: string, open: () => Promise<HostBench>): void {
  describe(`${name}: other hosts`, () => {
    const opened = async () => {
      const bench = await open()
      const [one, two] = [bench.host(), bench.host()]
      const { directory } = bench
      /** What `one` finds out about a time in which something is done. */
      const during = (done: () => void, at = directory) => {
        const before = one.look(at)
        done()
        return wereActive(before, one.look(at))
      }
      return { ...bench, one, two, during }
    }

    test('[O60] a host does not see itself', async () => {
      const { one, directory, during } = await opened()
      expect(during(() => one.note(directory, 1))).toBe(false)
      expect(one.look(directory)).toEqual({ active: false, notes: new Map() })
    })

    test('[O60.1] [O60] a host sees that another one is active, and that it was active and is no more', async () => {
      const { two, directory, during } = await opened()
      expect(during(() => {})).toBe(false)
      expect(during(() => two.note(directory, 1))).toBe(true)
      expect(during(() => {})).toBe(true)
      expect(during(() => two.note(directory, 0))).toBe(true)
      expect(during(() => {})).toBe(false)
      const whole = () => [1, 0].forEach((active) => two.note(directory, active))
      expect(during(whole)).toBe(true)
      expect(during(() => two.note(directory, 0))).toBe(true)
    })

    test('[O60.2] [O60] folders that contain each other are the same to it, and others are not', async () => {
      const { two, directory, during } = await opened()
      expect(during(() => two.note(`${directory}/sub`, 1))).toBe(true)
      expect(during(() => two.note(`${directory}/sub`, 0))).toBe(true)
      expect(during(() => two.note(directory, 0), `${directory}/sub`)).toBe(true)
      expect(during(() => two.note(`${directory}/sub`, 0), `${directory}-other`)).toBe(false)
    })
  })
}
