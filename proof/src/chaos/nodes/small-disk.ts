import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk in memory that can be made full. It becomes as small as what is on it, so a full one needs no more memory. */
export class SmallDisk {
  readonly path: string
  readonly #bytes: number

  private constructor(path: string, bytes: number) {
    this.path = path
    this.#bytes = bytes
  }

  /** Mounts a disk. Undefined if this user may not. */
  static mount(bytes: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'atrium-chaos-disk-'))
    try {
      mount('-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path)
      return new SmallDisk(path, bytes)
    } catch {
      rmSync(path, { recursive: true })
      return undefined
    }
  }

  fill(): void {
    for (;;) {
      const { blocks, bfree, bsize } = statfsSync(this.path)
      try {
        return this.#resize(Math.max(1, blocks - bfree) * bsize)
      } catch {
        // Something was written meanwhile, so that the new size was too small.
      }
    }
  }

  free(): void {
    this.#resize(this.#bytes)
  }

  release(): void {
    execFileSync('umount', ['-l', this.path], { stdio: 'ignore' })
    rmSync(this.path, { recursive: true })
  }

  #resize(bytes: number): void {
    mount('-o', `remount,size=${bytes}`, this.path)
  }
}

function mount(...args: readonly string[]): void {
  execFileSync('mount', args, { stdio: 'ignore' })
}
