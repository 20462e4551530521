import { closeSync, constants, existsSync, fstat, open as openFd, readlinkSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { changed, missing } from './errors.ts'
import { joined, rawFromSystem, systemPath } from './byte-path.ts'
import type { Raw } from './byte-path.ts'

/** Something that was found: whatever happens to its name afterwards, what is done is done with this. */
export interface Held {
  /** Where it really was when it was found. */
  readonly real: Raw
  readonly facts: BigIntStats
  /** What leads the system to it, and to nothing else. */
  readonly self: Buffer
  /** The same for a name in it. */
  at(name: Raw): Buffer
  /** Opens it for its bytes. Never waits for a writer, as a FIFO would. */
  open(flags: number): Promise<FileHandle>
  /** May be said twice. */
  close(): void
}

/**
 * Where the system shows what a descriptor stands for (Linux), things are held by one that can do nothing but that. Elsewhere
 * a real path has to do, and who is fast enough to change a directory between two steps is not found out.
 */
const byDescriptor = process.platform === 'linux' && existsSync('/proc/self/fd')

/** Holds what is at a path; a link itself unless it is followed. Nothing is waited for, changed or begun by that. */
export function hold(path: Buffer, follow: boolean): Promise<Held> {
  return byDescriptor ? holdDescriptor(path, follow) : holdPath(path, follow)
}

/** What is held while something is done. */
export class Grip {
  readonly #held: Held[] = []

  async hold(path: Buffer, follow: boolean): Promise<Held> {
    const held = await hold(path, follow)
    this.#held.push(held)
    return held
  }

  release(): void {
    for (const held of this.#held.splice(0)) held.close()
  }
}

/** Lets go of everything in the end, whatever that is. */
export async function gripping<T>(run: (grip: Grip) => Promise<T>): Promise<T> {
  const grip = new Grip()
  try {
    return await run(grip)
  } finally {
    grip.release()
  }
}

export function isSame(a: Held, b: Held): boolean {
  return a.facts.ino === b.facts.ino && a.facts.dev === b.facts.dev
}

// Node has no name for it. A descriptor opened so reaches no device, no FIFO and no byte of a file.
const O_PATH = 0o10000000
// Windows has neither, and then they count as none.
const { O_NOFOLLOW, O_NONBLOCK } = constants
const descriptorAt = promisify(openFd)
const factsOf = promisify(fstat) as (fd: number, options: { bigint: true }) => Promise<BigIntStats>

async function holdDescriptor(path: Buffer, follow: boolean): Promise<Held> {
  const fd = await descriptorAt(path, O_PATH | (follow ? 0 : O_NOFOLLOW))
  let open = true
  const close = () => {
    if (open) closeSync(fd)
    open = false
  }
  try {
    const facts = await factsOf(fd, { bigint: true })
    // Neither of the two that do not wait here can: the kernel has all it needs for them in memory.
    const real = readlinkSync(`/proc/self/fd/${fd}`, 'latin1')
    if (real.endsWith(' (deleted)') && !(await isNamed(real, facts))) throw missing()
    return heldAt(`/proc/self/fd/${fd}`, real, facts, close)
  } catch (error) {
    close()
    throw error
  }
}

/** The kernel says so of what is gone; but anybody may call a file that. */
async function isNamed(real: Raw, { nlink, dev, ino }: BigIntStats): Promise<boolean> {
  if (nlink === 0n) return false
  const there = await lstat(systemPath(real), { bigint: true }).catch(() => undefined)
  return there?.ino === ino && there.dev === dev
}

function heldAt(self: Raw, real: Raw, facts: BigIntStats, close: () => void): Held {
  return {
    real,
    facts,
    self: systemPath(self),
    at: (name) => systemPath(joined(self, name)),
    open: (flags) => open(self, flags | O_NONBLOCK),
    close,
  }
}

async function holdPath(path: Buffer, follow: boolean): Promise<Held> {
  const real = rawFromSystem(follow ? await realpath(path, { encoding: 'buffer' }) : path)
  const self = systemPath(real)
  const facts = await lstat(self, { bigint: true })
  if (follow && facts.isSymbolicLink()) throw changed()
  return {
    ...heldAt(real, real, facts, () => {}),
    async open(flags) {
      const handle = await open(self, flags | O_NONBLOCK | O_NOFOLLOW)
      const { ino, dev, mode } = await handle.stat({ bigint: true })
      // The number of what is gone is soon another's, which may be of another kind.
      if (ino === facts.ino && dev === facts.dev && mode === facts.mode) return handle
      await handle.close()
      throw changed()
    },
  }
}
