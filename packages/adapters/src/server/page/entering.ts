import { createHash, createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { limits } from '@atrium/protocol/limits'
import type { Device } from '@atrium/protocol/root/device'
import type { KnownDevices } from '../devices/pairing.ts'
import { SingleUse } from './single-use.ts'

/** A request for a ticket: a challenge of the host, signed by the key of a credential. */
export interface SignedChallenge {
  readonly credential: string
  readonly challenge: string
  /**
   * An ECDSA signature with SHA-256 of the text `atrium ticket <challenge>`: the numbers r and s, 32 bytes each, in
   * base64url.
   */
  readonly signature: string
}

/**
 * The way of a browser into the host: a pairing code makes it a device with a key, and the key gets a ticket for each
 * WebSocket. No secret that opens the host is ever stored in the browser or sent twice.
 */
export interface Entering {
  /** Whether a person needs a code. A host without a token lets every program of this machine in. */
  readonly codeNeeded: boolean
  /** Returns a code for a person who may enter. It is shown once, in a link. Throws as `KnownDevices.browserCode` does. */
  issueCode(): string
  /**
   * Exchanges a code for a device, and returns its id. Undefined if the code or the key is not accepted. Rejects as
   * `KnownDevices.redeem` does.
   */
  redeem(code: string, publicKey: string): Promise<string | undefined>
  challenge(): string
  ticket(signed: SignedChallenge): Promise<string | undefined>
  /** Uses up a ticket. Returns the device of the browser; undefined if the ticket is not valid. */
  takeTicket(ticket: string): Device | undefined
}

interface Options {
  readonly devices: KnownDevices
  readonly codeNeeded: boolean
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

export function entering({ devices, codeNeeded, now }: Options): Entering {
  const challenges = new SingleUse<true>({ max: limits.tickets, ms: limits.ticketMs, now })
  const tickets = new SingleUse<string>({ max: limits.tickets, ms: limits.ticketMs, now })
  return {
    codeNeeded,
    issueCode: () => devices.browserCode(),
    async redeem(code, publicKey) {
      if (!keyOf(publicKey)) return undefined
      const proof = { hash: `key:${createHash('sha256').update(publicKey).digest('hex')}`, publicKey }
      const device = await devices.redeem(codeNeeded ? code : devices.browserCode(), proof)
      return device?.id
    },
    challenge: () => challenges.issue(true),
    async ticket({ credential, challenge, signature }) {
      const fresh = challenges.take(challenge) ?? false
      const known = devices.keyOf(credential)
      const key = known && keyOf(known.publicKey)
      if (!fresh || !key || !isSigned(key, challenge, signature)) return undefined
      return tickets.issue(known.device.id)
    },
    takeTicket(ticket) {
      const id = tickets.take(ticket)
      // The device may have been revoked meanwhile.
      return id === undefined ? undefined : devices.keyOf(id)?.device
    },
  }
}

function isSigned(key: KeyObject, challenge: string, signature: string): boolean {
  const text = Buffer.from(`atrium ticket ${challenge}`)
  return verify(
    'sha256',
    text,
    { key, dsaEncoding: 'ieee-p1363' },
    new Uint8Array(Buffer.from(signature, 'base64url')),
  )
}

/** Returns the key that a browser sent. Returns undefined if it is not a public key on P-256. */
function keyOf(publicKey: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), format: 'der', type: 'spki' })
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}
