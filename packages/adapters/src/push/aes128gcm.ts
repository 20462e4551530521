import { createCipheriv, hkdfSync } from 'node:crypto'

export interface ContentKey {
  /** The secret that sender and receiver share. */
  readonly secret: Uint8Array
  /** 16 random bytes. */
  readonly salt: Uint8Array
  /** The id by which the receiver knows which secret is meant. */
  readonly keyId: Uint8Array
  /** The length of an encrypted record, in bytes. */
  readonly recordSize: number
}

/** The length of the tag that AES-GCM adds to a record. */
const tagBytes = 16

/** Encrypts a content by the encoding `aes128gcm` (RFC 8188): a header, then records that are encrypted each by itself. */
export function aes128gcm(content: Uint8Array, { secret, salt, keyId, recordSize }: ContentKey): Buffer {
  const key = derived(secret, salt, 'Content-Encoding: aes128gcm\0', 16)
  const nonce = derived(secret, salt, 'Content-Encoding: nonce\0', 12)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(recordSize)
  head.writeUInt8(keyId.length, 4)
  const parts: Uint8Array[] = [salt, head, keyId]
  // Each record ends with a byte that tells whether it is the last one.
  const room = recordSize - tagBytes - 1
  const count = Math.max(1, Math.ceil(content.length / room))
  for (let at = 0; at < count; at++) {
    const cipher = createCipheriv('aes-128-gcm', key, nonceOf(nonce, at))
    const isLast = at === count - 1
    parts.push(
      cipher.update(content.subarray(at * room, (at + 1) * room)),
      cipher.update(Uint8Array.of(isLast ? 2 : 1)),
      cipher.final(),
      cipher.getAuthTag(),
    )
  }
  return Buffer.concat(parts)
}

export function derived(
  secret: Uint8Array,
  salt: Uint8Array,
  info: string | Uint8Array,
  length: number,
): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, length))
}

/** Returns the nonce of a record: that of the content, with the number of the record in its last bytes. */
function nonceOf(nonce: Buffer, record: number): Buffer {
  const own = Buffer.from(nonce)
  own.writeUInt32BE((own.readUInt32BE(8) ^ record) >>> 0, 8)
  return own
}
