import { createECDH, randomBytes } from 'node:crypto'
import type { ECDH } from 'node:crypto'
import type { PushTarget } from '@atrium/host/ports/notifier'
import { aes128gcm, derived } from './aes128gcm.ts'

/** What the sender creates for one message. Tests pass the values of the example in RFC 8291. */
export interface SenderKeys {
  readonly pair: ECDH
  readonly salt: Uint8Array
}

/** The record size that push services accept, in bytes. A message is one record. */
const recordSize = 4096

/** Encrypts a message for a browser (RFC 8291). The push service can neither read nor change it. */
export function pushMessage(
  text: string,
  target: Pick<PushTarget, 'p256dh' | 'auth'>,
  keys = newKeys(),
): Buffer {
  const receiver = Buffer.from(target.p256dh, 'base64url')
  const auth = Buffer.from(target.auth, 'base64url')
  const sender = keys.pair.getPublicKey()
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiver, sender])
  const secret = derived(keys.pair.computeSecret(receiver), auth, info, 32)
  return aes128gcm(Buffer.from(text), { secret, salt: keys.salt, keyId: sender, recordSize })
}

/** Returns why a browser's keys cannot be used. Returns undefined if they can. */
export function keyProblem({ p256dh, auth }: Pick<PushTarget, 'p256dh' | 'auth'>): string | undefined {
  if (Buffer.from(auth, 'base64url').length !== 16) return 'the secret of the browser has not 16 bytes'
  try {
    const point = Buffer.from(p256dh, 'base64url')
    if (point.length !== 65 || point[0] !== 4) return 'the key of the browser is no uncompressed point'
    // This throws for a point that is not on the curve. With such a point, a secret could tell something about the
    // host's key.
    newKeys().pair.computeSecret(point)
    return undefined
  } catch {
    return 'the key of the browser is not on P-256'
  }
}

function newKeys(): SenderKeys {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return { pair, salt: randomBytes(16) }
}
