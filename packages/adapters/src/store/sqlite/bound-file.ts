import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { boundSum } from '../checksums.ts'

/**
 * The file with the highest `upTo` that a flush has made durable. It is outside of the database and its journal, so that a
 * store that has lost flushed steps can be told from a store that never had them. The file is written after each flush and
 * not flushed itself, which costs microseconds. It may lag behind after a power cut, but never has more than was durable.
 */
const pathIn = (folder: string): string => join(folder, 'atrium.upto')

/** The length of the text. It is fixed, so that the file can be written in place even on a full disk. */
const LENGTH = 40

/** Returns the stored bound, or 0 if there is none. A damaged bound counts as none. */
export function readBound(folder: string): number {
  try {
    const text = readFileSync(pathIn(folder), 'utf8')
    const upTo = Number.parseInt(text, 10)
    return text === textOf(upTo) ? upTo : 0
  } catch {
    return 0
  }
}

/** Whether the file is there and cannot be read. Then nobody knows whether the store has lost flushed steps. */
export function isBoundDamaged(folder: string): boolean {
  return statSync(pathIn(folder), { throwIfNoEntry: false }) !== undefined && readBound(folder) === 0
}

/**
 * Whether the database is gone or empty and its journal is not. SQLite would delete the journal, which may be all that is left.
 */
export function isEmptiedBesideJournal(folder: string): boolean {
  const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
  return sizeOf('atrium.db') === 0 && sizeOf('atrium.db-wal') > 0
}

export interface BoundWriter {
  write(upTo: number): void
  close(): void
}

/**
 * Opens the file for writing. Failures are ignored: the store works without the file, but cannot then detect that flushed steps
 * were lost.
 */
export function boundWriter(folder: string): BoundWriter {
  let written = readBound(folder)
  const file = attempt(() => {
    const opened = openSync(pathIn(folder), written > 0 ? 'r+' : 'w', 0o600)
    chmodSync(pathIn(folder), 0o600)
    return opened
  })
  return {
    write(upTo) {
      if (file === undefined || upTo <= written) return
      attempt(() => writeSync(file, textOf(upTo), 0))
      written = upTo
    },
    close() {
      if (file === undefined) return
      attempt(() => fsyncSync(file))
      attempt(() => closeSync(file))
    },
  }
}

/**
 * Copies the journal of a store that has lost flushed steps, because the next write replaces the journal. The copy may help
 * to repair the store by hand.
 */
export function keepJournal(folder: string): void {
  const stamp = new Date().toISOString().replace(/[-:]/g, '')
  const copy = join(folder, `atrium-lost-${stamp}.db-wal`)
  attempt(() => {
    const journal = join(folder, 'atrium.db-wal')
    if (statSync(journal).size === 0) return
    copyFileSync(journal, copy)
    chmodSync(copy, 0o600)
  })
}

const textOf = (upTo: number): string => `${`${upTo} ${boundSum(upTo)}`.padEnd(LENGTH - 1)}\n`

function attempt<T>(task: () => T): T | undefined {
  try {
    return task()
  } catch {
    return undefined
  }
}
