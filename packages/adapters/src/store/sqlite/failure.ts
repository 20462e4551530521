/** What a failure means to the main thread, which chooses an error class by it. */
export type Meaning = 'full' | 'locked' | 'unreadable'

/** A failure in the worker. */
export class Failure extends Error {
  readonly meaning: Meaning

  constructor(meaning: Meaning, message: string) {
    super(message)
    this.meaning = meaning
  }
}

// Result codes of SQLite.
const PERM = 3
export const BUSY = 5
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
export const FULL = 13
const CANTOPEN = 14

/** Returns SQLite's primary result code of an error; 0 if the error is not from SQLite. */
export const codeOf = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 255 : 0

/**
 * Whether an error means damage. SQLite sometimes reports damage without the result code for it. A number that the store
 * never writes is damage too.
 */
export const isDamage = (error: unknown): boolean =>
  codeOf(error) === CORRUPT ||
  (error instanceof Error && /disk image is malformed|too large to be represented/.test(error.message))

/** Whether an error means that the disk could not be read or written. SQLite sometimes reports it without a result code. */
export const isOfDisk = (error: unknown): boolean =>
  codeOf(error) === IOERR || (error instanceof Error && error.message.includes('disk I/O error'))

/** Whether an error means that the files may not be written. They may still be readable. */
export const isWriteProtected = (error: unknown): boolean =>
  [PERM, READONLY, CANTOPEN].includes(codeOf(error)) ||
  (error instanceof Error && 'code' in error && ['EROFS', 'EACCES', 'EPERM'].includes(String(error.code)))

/** Returns the damage that an error of SQLite means. */
export const damageOf = (error: unknown): string | undefined => (isDamage(error) ? String(error) : undefined)
