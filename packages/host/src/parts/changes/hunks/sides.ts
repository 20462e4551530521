import type { CapturedChange, CapturedFile, Captures } from '../../../ports/captures.ts'
import type { FileSides } from './hunks.ts'

/** Reads both sides of a change. Undefined if a side is a link, is too large to compare, or was not captured. */
export async function sidesOf(
  captures: Pick<Captures, 'read'>,
  { before, after }: Pick<CapturedChange, 'before' | 'after'>,
): Promise<FileSides | undefined> {
  if (![before, after].every(isComparable)) return undefined
  const read = async (file: CapturedFile | undefined) =>
    file ? captures.read(file.content) : new Uint8Array()
  const [a, b] = await Promise.all([read(before), read(after)])
  return { before: a, after: b }
}

function isComparable(file: CapturedFile | undefined): boolean {
  return !file || (file.mode !== '120000' && file.omitted === undefined && file.size <= mostBytes)
}

/** In bytes. People do not review larger texts part by part. */
const mostBytes = 4 * 1024 * 1024
