/** The CRC-32 of a text, as eight hexadecimal digits. It detects a damaged record. It does not protect against an attacker. */
export function checksum(text: string): string {
  let crc = 0xffffffff
  for (const byte of encoder.encode(text)) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0)
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0')
}

const encoder = new TextEncoder()

const table: readonly number[] = Array.from({ length: 256 }, (_, n) => {
  let entry = n
  for (let bit = 0; bit < 8; bit++) entry = entry & 1 ? 0xedb88320 ^ (entry >>> 1) : entry >>> 1
  return entry >>> 0
})

/** Puts the checksum of a text in front of the text. */
export function withChecksum(text: string): string {
  return `${checksum(text)} ${text}`
}

/** Removes the checksum in front of a text. Returns undefined if the checksum is wrong. */
export function withoutChecksum(record: string): string | undefined {
  const text = record.slice(9)
  return record.slice(0, 9) === `${checksum(text)} ` ? text : undefined
}

/**
 * Returns the text of a record as it is stored: with a checksum over its key and its text, between two marks. A mark is on each side,
 * so that one flipped bit cannot make the record look like one of an earlier build, which has none.
 */
export function sealed(key: string, text: string): string {
  return `${before}${checksum(`${key}\n${text}`)}${after}${text}`
}

/** Returns the text of a stored record. Undefined if its checksum is wrong. A record of an earlier build has no checksum. */
export function unsealed(key: string, stored: string): string | undefined {
  const marks = (stored[0] === before ? 1 : 0) + (stored[length - 1] === after ? 1 : 0)
  if (marks === 0) return stored
  const text = stored.slice(length)
  return marks === 2 && stored.slice(1, length - 1) === checksum(`${key}\n${text}`) ? text : undefined
}

/**
 * Returns the key that a record had before a bit of it was flipped: the only one for which the checksum is right. Undefined if there
 * is none. A store appends U+FFFD to the keys of records whose keys a flipped bit has made equal.
 */
export function keyBefore(key: string, stored: string): string | undefined {
  if (stored[0] !== before || stored[length - 1] !== after) return undefined
  const flipped = unflipped(key, stored)
  if (flipped !== undefined) return flipped
  for (let marks = 1; marks <= mostEqual && key.at(-marks) === '\ufffd'; marks++) {
    const bare = key.slice(0, -marks)
    const found = unsealed(bare, stored) === undefined ? unflipped(bare, stored) : bare
    if (found !== undefined) return found
  }
  return undefined
}

function unflipped(key: string, stored: string): string | undefined {
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at)
    // A flipped highest bit is no UTF-8 any more, and is read as U+FFFD.
    const codes = code === 0xfffd ? ascii : bits.map((bit) => code ^ bit)
    for (const each of codes) {
      const other = key.slice(0, at) + String.fromCharCode(each) + key.slice(at + 1)
      if (unsealed(other, stored) !== undefined) return other
    }
  }
  return undefined
}

/** How many U+FFFD a store may have appended. One flipped bit makes two keys equal, so two are enough; the others are a reserve. */
const mostEqual = 4

const bits = Array.from({ length: 7 }, (_, bit) => 1 << bit)
const ascii = Array.from({ length: 95 }, (_, at) => at + 32)

// No text of a record contains these characters: JSON escapes them, and URIs and ids do not have them.
const before = '\u0002'
const after = '\u0003'
const length = 10
