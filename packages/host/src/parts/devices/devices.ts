import { AhpError } from '@atrium/protocol/errors'
import { Device, deviceRevoked } from '@atrium/protocol/root/device'
import { decode, object, optional, string } from '@atrium/protocol/schema'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Log } from '../../kernel/log/log.ts'
import type { Records } from '../../ports/records.ts'
import type { World } from '../../ports/world.ts'
import { defineKey } from '../../kernel/key.ts'
import { RecordMap } from '../../kernel/record-map.ts'
import { PairingCodes } from './pairing-codes.ts'
import type { Pairing } from './pairing-codes.ts'

/** A device as it is stored: with the hash of its secret. The secret itself is known to the device only. */
interface StoredDevice extends Device {
  /**
   * The SHA-256 of the secret, in hexadecimal. A browser has a key instead of a secret: its hash is `key:` and the
   * SHA-256 of the public key.
   */
  readonly hash: string
  /** The public key of a browser, on P-256: SubjectPublicKeyInfo in base64url. The private key is known to the browser only. */
  readonly publicKey?: string
}

/** What a device proves its identity with. */
type Proof = Pick<StoredDevice, 'hash' | 'publicKey'>

/** A link of a device, which ends when the device is revoked. */
interface DeviceLink {
  close(code: number, reason: string): void
}

export const devicesOf = defineKey<Devices>('devices')

/** The devices of the host: paired by a code, listed, and revoked. */
export class Devices {
  readonly #stored: RecordMap<StoredDevice>
  readonly #byHash: Map<string, string>
  readonly #codes: PairingCodes
  readonly #links = new Map<string, Set<DeviceLink>>()
  readonly #world: World
  readonly #log: Log
  readonly #limits: LimitValues

  private constructor(stored: RecordMap<StoredDevice>, world: World, log: Log, limits: LimitValues) {
    this.#stored = stored
    this.#byHash = new Map(stored.values().map(({ hash, id }) => [hash, id]))
    this.#codes = new PairingCodes(world, limits)
    this.#world = world
    this.#log = log
    this.#limits = limits
  }

  static async open(records: Records, world: World, log: Log, limits: LimitValues): Promise<Devices> {
    return new Devices(await RecordMap.open(records, 'device/', format), world, log, limits)
  }

  get list(): readonly Device[] {
    return this.#stored.values().map(shown)
  }

  /** The device with this secret. `hash` is the SHA-256 of the secret, in hexadecimal. */
  find(hash: string): Device | undefined {
    const id = this.#byHash.get(hash)
    const stored = id === undefined ? undefined : this.#stored.get(id)
    return stored && shown(stored)
  }

  /** The device with this id, and its public key. Undefined if there is none, or if it has a secret instead of a key. */
  keyOf(id: string): { readonly device: Device; readonly publicKey: string } | undefined {
    const stored = this.#stored.get(id)
    return stored?.publicKey === undefined
      ? undefined
      : { device: shown(stored), publicKey: stored.publicKey }
  }

  /** Issues a pairing code for a browser of the person who has the token. Throws if the host may have no more devices. */
  browserCode(): string {
    this.#checkRoom()
    return this.#codes.issue({ name: 'Browser', role: 'own', numbered: true })
  }

  /** Issues a pairing code for a new device. */
  pair({ name, role }: Pairing): { readonly code: string; readonly seconds: number } {
    const problem = nameProblem(name, this.list)
    if (problem !== undefined) throw AhpError.invalidParams(problem)
    this.#checkRoom()
    return { code: this.#codes.issue({ name, role }), seconds: this.#limits.pairingMs / 1000 }
  }

  /**
   * Redeems a pairing code: creates the device with this secret or key. Resolves when the device is durable. Undefined if
   * the code is not valid. Rejects if the code is valid and the host may have no more devices.
   */
  async redeem(code: string, proof: Proof): Promise<Device | undefined> {
    const pairing = this.#codes.take(code)
    if (!pairing) return undefined
    const name = pairing.numbered ? freeName(pairing.name, this.list) : pairing.name
    // Meanwhile another code may have created a device with this name, or the last device that the limit allows.
    if (nameProblem(name, this.list) !== undefined) return undefined
    this.#checkRoom()
    const device = { id: this.#world.id(), name, role: pairing.role, pairedAt: this.#time(), ...proof }
    this.#keep(device)
    await this.#log.settled()
    return shown(device)
  }

  /** Revokes a device: closes its links at once. Resolves when the revocation is durable. */
  async revoke(id: string): Promise<Device> {
    const device = this.#stored.get(id)
    if (!device) throw AhpError.notFound(`no device ${JSON.stringify(id.slice(0, 200))}`)
    this.#stored.delete(id)
    this.#byHash.delete(device.hash)
    for (const link of this.#links.get(id) ?? []) link.close(1008, deviceRevoked)
    this.#links.delete(id)
    this.#log.scheduleFlush()
    await this.#log.settled()
    return shown(device)
  }

  /** Follows a link of a device, to close it if the device is revoked. Returns false if the device is revoked already. */
  linkOpened(id: string, link: DeviceLink): boolean {
    const device = this.#stored.get(id)
    if (!device) return false
    this.#links.set(id, (this.#links.get(id) ?? new Set<DeviceLink>()).add(link))
    const now = this.#time()
    // The date is written once a day. It shows which devices are in use; the time of each link is not worth a write.
    if (device.seenAt?.slice(0, 10) !== now.slice(0, 10)) this.#keep({ ...device, seenAt: now })
    return true
  }

  linkClosed(id: string, link: DeviceLink): void {
    const links = this.#links.get(id)
    links?.delete(link)
    if (links?.size === 0) this.#links.delete(id)
  }

  #checkRoom(): void {
    if (this.#stored.size < this.#limits.devices) return
    throw AhpError.permissionDenied(
      `this host has ${this.#stored.size} devices, and may have no more: revoke one first`,
    )
  }

  #keep(device: StoredDevice): void {
    this.#stored.set(device.id, device)
    this.#byHash.set(device.hash, device.id)
    this.#log.scheduleFlush()
  }

  #time(): string {
    return new Date(this.#world.now()).toISOString()
  }
}

const Stored = object<Proof>('StoredDevice', { hash: string, publicKey: optional(string) })

/**
 * The format of stored devices. If a record cannot be read, its device cannot connect any more. The host says so at its
 * start (L60).
 */
const format = {
  read(text: string): StoredDevice {
    const value: unknown = JSON.parse(text)
    const device = decode(Device, value)
    const secret = decode(Stored, value)
    if (!device.ok || !secret.ok) throw new Error('a stored device cannot be read')
    const { hash, publicKey } = secret.value
    return { ...device.value, hash, ...(publicKey !== undefined && { publicKey }) }
  },
  write: (device: StoredDevice): string => JSON.stringify(device),
}

/** Removes from a device what it proves its identity with, for clients. */
function shown(stored: StoredDevice): Device {
  const { hash: _, publicKey: __, ...device } = stored
  return device
}

/** Adds a number to a name if a device has the name already. */
function freeName(name: string, devices: readonly Device[]): string {
  const used = new Set(devices.map((device) => device.name))
  let free = name
  for (let n = 2; used.has(free); n++) free = `${name} ${n}`
  return free
}

/** Returns why a new device cannot have this name; undefined if it can. */
function nameProblem(name: string, devices: readonly Device[]): string | undefined {
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._'-]{0,63}$/u.test(name))
    return "the name of a device has 1 to 64 letters, digits, spaces and . _ - ', and begins with a letter or a digit"
  return devices.some((device) => device.name === name)
    ? `there is a device ${JSON.stringify(name)} already: revoke it, or choose another name`
    : undefined
}
