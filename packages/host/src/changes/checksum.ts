/** The CRC-32 of a text, as eight hexadecimal digits. It detects a damaged record. It does not protect against an attacker. */
export function checksum(text: string): string {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0)
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, '0')
}

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
