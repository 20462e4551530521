import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

/** A browser that has subscribed to pushes: it decrypts them as RFC 8291 and RFC 8188 say. */
export class PushReader {
  readonly #pair = createECDH('prime256v1')
  readonly #auth = randomBytes(16)
  readonly p256dh = this.#pair.generateKeys('base64url')
  readonly auth = this.#auth.toString('base64url')

  /** The text of a push message. */
  read(message: Buffer): string {
    const sender = message.subarray(21, 21 + (message[20] ?? 0))
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), this.#pair.getPublicKey(), sender])
    return this.decrypt(message, derive(this.#pair.computeSecret(sender), this.#auth, info, 32))
  }

  decrypt(message: Buffer, secret: Uint8Array): string {
    const salt = message.subarray(0, 16)
    const size = message.readUInt32BE(16)
    const records = message.subarray(21 + (message[20] ?? 0))
    const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16)
    const base = derive(secret, salt, 'Content-Encoding: nonce\0', 12)
    const parts: Buffer[] = []
    for (let at = 0; at * size < records.length; at++) {
      const record = records.subarray(at * size, (at + 1) * size)
      const nonce = Buffer.from(base)
      nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ at) >>> 0, 8)
      const decipher = createDecipheriv('aes-128-gcm', key, nonce)
      decipher.setAuthTag(record.subarray(-16))
      const plain = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()])
      const isLast = (at + 1) * size >= records.length
      if (plain.at(-1) !== (isLast ? 2 : 1)) throw new Error('a record has the wrong end')
      parts.push(plain.subarray(0, -1))
    }
    return Buffer.concat(parts).toString()
  }
}

function derive(secret: Uint8Array, salt: Uint8Array, info: string | Uint8Array, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, length))
}
