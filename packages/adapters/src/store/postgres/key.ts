import { createHash } from 'node:crypto'

/** The maximum size of a text in an index, in bytes. PostgreSQL refuses entries above a third of a page of 8 KiB. */
const MOST = 500

/**
 * Returns the key of a text: the text itself, or its hash if it is long. URIs and ids of clients may be of any length. They
 * contain no control characters (P6), so no text is equal to the key of another.
 */
export const keyOf = (text: string): string =>
  Buffer.byteLength(text) <= MOST ? text : `\x01${createHash('sha256').update(text).digest('hex')}`

/**
 * Returns the first text after all texts with a prefix, in the order of code points, which is that of the bytes of UTF-8.
 * Undefined if there is no such text.
 */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (each) => each.codePointAt(0) ?? 0)
  while (points.at(-1) === LAST) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // The code points between these two are halves of others, and stand in no text.
  points.push(last === 0xd7ff ? 0xe000 : last + 1)
  return String.fromCodePoint(...points)
}

const LAST = 0x10ffff
