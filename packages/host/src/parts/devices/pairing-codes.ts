import type { Role } from '@atrium/protocol/root/device'
import type { World } from '../../ports/world.ts'

/** What a pairing code stands for: the name and the role of the device that redeems it. */
export interface Pairing {
  readonly name: string
  readonly role: Role
  /** Set if a device of this name may exist already. The new one then has a number behind the name. */
  readonly numbered?: true
}

/** A pairing code that can still be redeemed. */
interface OpenCode extends Pairing {
  readonly cancelExpiry: () => void
}

/**
 * The pairing codes that were issued and not yet redeemed. A code can be redeemed once, for a short time. Codes are kept only
 * in memory, so a restart of the host ends them all.
 */
export class PairingCodes {
  readonly #world: Pick<World, 'id' | 'later'>
  readonly #limits: { readonly pairingCodes: number; readonly pairingMs: number }
  readonly #open = new Map<string, OpenCode>()

  constructor(
    world: Pick<World, 'id' | 'later'>,
    limits: { readonly pairingCodes: number; readonly pairingMs: number },
  ) {
    this.#world = world
    this.#limits = limits
  }

  /** Issues a code. If there are too many open codes, the oldest one ends. */
  issue(pairing: Pairing): string {
    const code = codeFrom(this.#world.id())
    const cancelExpiry = this.#world.later(this.#limits.pairingMs, () => this.#open.delete(code))
    this.#open.set(code, { ...pairing, cancelExpiry })
    const [oldest] = this.#open.keys()
    if (this.#open.size > this.#limits.pairingCodes && oldest !== undefined) this.take(oldest)
    return `${code.slice(0, half)}-${code.slice(half)}`
  }

  /** Ends a code. Returns what it stands for; undefined if there is no such code, or no longer. */
  take(typed: string): Pairing | undefined {
    const code = normalized(typed)
    const found = this.#open.get(code)
    if (!found) return undefined
    this.#open.delete(code)
    const { cancelExpiry, ...pairing } = found
    cancelExpiry()
    return pairing
  }
}

/** Digits and letters that are not mistaken for one another: without I, L, O and U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const half = 5

/** Ten characters of five bits each, from the random bits of an id. */
function codeFrom(id: string): string {
  const hex = id.replaceAll(/[^0-9a-f]/gi, '').slice(-13)
  let bits = BigInt(`0x${hex === '' ? '0' : hex}`)
  let code = ''
  while (code.length < 2 * half) {
    code += alphabet.charAt(Number(bits & 31n))
    bits >>= 5n
  }
  return code
}

/** Converts a code as a person types it to the form in which it is kept: in capitals, without spaces and hyphens. */
function normalized(typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[\s-]/g, '')
  return letters.replaceAll('O', '0').replaceAll(/[IL]/g, '1')
}
