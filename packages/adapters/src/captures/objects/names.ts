import { isUtf8 } from 'node:buffer'

/** A name in the output of git. */
export interface OutputName {
  /** The name as text. Bytes that are no UTF-8 stand in it as `\\xe9`. */
  readonly text: string
  /** The bytes of a name that is not valid UTF-8. Absent for any other name. */
  readonly bytes?: Buffer
}

/** Splits output at its NULs. */
export function namesIn(output: Buffer): readonly OutputName[] {
  const all = output.toString('utf8').split('\0').slice(0, -1)
  // The replacement character may also be part of a valid name.
  if (!all.some((name) => name.includes('\uFFFD'))) return all.map((text) => ({ text }))
  let at = 0
  return all.map((text) => {
    const end = output.indexOf(0, at)
    const bytes = output.subarray(at, end)
    at = end + 1
    return isUtf8(bytes) ? { text } : { text: escaped(bytes), bytes }
  })
}

/** Returns a name in which the bytes that are no UTF-8 can be read. Control characters are escaped, too. */
export function escaped(name: Buffer): string {
  let text = ''
  for (let at = 0; at < name.length;) {
    const length = [1, 2, 3, 4].find(
      (each) => at + each <= name.length && isUtf8(name.subarray(at, at + each)),
    )
    const isShown =
      length !== undefined && !(length === 1 && /[\p{Cc}]/u.test(name.toString('latin1', at, at + 1)))
    text += isShown ? name.toString('utf8', at, at + length) : `\\x${name.toString('hex', at, at + 1)}`
    at += isShown ? length : 1
  }
  return text
}
