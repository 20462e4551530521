import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AhpError } from '@atrium/protocol/errors'
import { limits } from '@atrium/protocol/limits'
import type { Device } from '@atrium/protocol/root/device'
import { decode, object, string } from '@atrium/protocol/schema'

/**
 * What a device proves itself by. A device with a secret: the SHA-256 of the secret, in hexadecimal. A browser: its
 * public key, and as `hash` the text `key:` with the SHA-256 of this key.
 */
export interface DeviceProof {
  readonly hash: string
  readonly publicKey?: string
}

/** The devices that the host knows. */
export interface KnownDevices {
  /** Returns the device whose secret has this SHA-256, in hexadecimal. */
  find(hash: string): Device | undefined
  /**
   * Creates the device that a pairing code stands for, with a secret or a key. Undefined if the code is not valid. Rejects
   * with an `AhpError` if the code is valid, but the host may have no more devices.
   */
  redeem(code: string, proof: DeviceProof): Promise<Device | undefined>
  /** Returns the public key of a device that has a key instead of a secret. */
  keyOf(id: string): { readonly device: Device; readonly publicKey: string } | undefined
  /**
   * Returns a pairing code for a browser. The browser gets all rights, like the person who has the token. Throws an
   * `AhpError` if the host may have no more devices.
   */
  browserCode(): string
}

/** The path to which a device posts its pairing code. */
export const pairingPath = '/pair'

const body = object<{ readonly code: string }>('PairingRequest', { code: string })

/** The response to a request to pair: a token for the new device, or an HTTP status, for 409 with the reason. */
export type PairingOutcome =
  | { readonly token: string; readonly device: Device }
  | { readonly status: 400 | 403 | 413 }
  | { readonly status: 409; readonly problem: string }

/** Redeems the pairing code in the body of a request. The secret is made here, and only its hash reaches the host. */
export async function redeemCode(request: IncomingMessage, devices: KnownDevices): Promise<PairingOutcome> {
  const text = await textOf(request)
  if (text === undefined) return { status: 413 }
  const decoded = decode(body, parsed(text))
  if (!decoded.ok) return { status: 400 }
  const token = randomBytes(32).toString('base64url')
  const proof = { hash: createHash('sha256').update(token).digest('hex') }
  try {
    const device = await devices.redeem(decoded.value.code, proof)
    return device ? { token, device } : { status: 403 }
  } catch (error) {
    return { status: 409, problem: reasonOf(error) }
  }
}

/** Returns the reason why the host makes no device although the code or token is right. Throws any other error again. */
export function reasonOf(error: unknown): string {
  if (error instanceof AhpError) return error.message
  throw error
}

/** Returns the body of a request; undefined if it is too long. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    // The request has no encoding, so its chunks are buffers.
    const bytes = chunk as Buffer
    length += bytes.length
    if (length > limits.pairingBytes) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
