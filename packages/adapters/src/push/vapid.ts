import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { privateFile } from '../process/private-file.ts'

/** The key by which push services know a host (VAPID, RFC 8292). */
export class VapidKey {
  /** An uncompressed point on P-256, in base64url. */
  readonly publicKey: string
  readonly #private: KeyObject

  constructor(pem: string) {
    this.#private = createPrivateKey(pem)
    const { x = '', y = '' } = createPublicKey(this.#private).export({ format: 'jwk' })
    if (this.#private.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      throw new Error('the key for notifications is not on P-256; remove the file push-key and start again')
    const point = [Uint8Array.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
    this.publicKey = Buffer.concat(point).toString('base64url')
  }

  /** Returns the header `Authorization` for an endpoint: a token for its origin that is valid for twelve hours. */
  authorization(endpoint: URL, contact: string | undefined, nowMs: number): string {
    const claims = {
      aud: endpoint.origin,
      exp: Math.floor(nowMs / 1000) + 12 * 3600,
      ...(contact !== undefined && { sub: contact }),
    }
    const text = [{ typ: 'JWT', alg: 'ES256' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const signature = sign('sha256', Buffer.from(text), { key: this.#private, dsaEncoding: 'ieee-p1363' })
    return `vapid t=${text}.${signature.toString('base64url')}, k=${this.publicKey}`
  }
}

/**
 * Returns the key of a data folder. It is made once and kept like the token: subscriptions of browsers are bound to
 * it.
 */
export async function vapidKeyOf(folder: string): Promise<VapidKey> {
  const made = () =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ format: 'pem', type: 'pkcs8' })
      .toString()
  return new VapidKey(await privateFile(join(folder, 'push-key'), made))
}
