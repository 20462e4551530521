import { AhpError } from '@atrium/protocol/errors'
import type { LimitValues } from '@atrium/protocol/limits'
import { decode, object, oneOf, optional, string } from '@atrium/protocol/schema'
import { Damaged } from '../../kernel/log/rebuild.ts'
import type { ShownTarget } from './extensions.ts'
import type { Devices } from '../devices/devices.ts'
import { RecordMap } from '../../kernel/record-map.ts'
import type { NotificationTarget, Notifier } from '../../ports/notifier.ts'
import type { Records } from '../../ports/records.ts'
import type { World } from '../../ports/world.ts'

/** A target as it is stored. */
export interface StoredTarget {
  readonly id: string
  readonly addedAt: string
  /** The id of the device whose browser has subscribed. */
  readonly device?: string
  readonly target: NotificationTarget
}

interface Parts {
  readonly records: Records
  readonly world: World
  readonly limits: LimitValues
  readonly devices: Pick<Devices, 'list'>
  readonly notifier: Pick<Notifier, 'problemOf'>
}

/** The targets of notifications. If a device was revoked, its targets do not count any more. */
export class Targets {
  readonly #parts: Parts
  readonly #stored: RecordMap<StoredTarget>

  private constructor(parts: Parts, stored: RecordMap<StoredTarget>) {
    this.#parts = parts
    this.#stored = stored
  }

  static async open(parts: Parts): Promise<Targets> {
    return new Targets(parts, await RecordMap.open(parts.records, 'notified/', format))
  }

  get all(): readonly StoredTarget[] {
    const known = new Set(this.#parts.devices.list.map(({ id }) => id))
    return this.#stored.values().filter(({ device }) => device === undefined || known.has(device))
  }

  shown({ id, addedAt, device, target }: StoredTarget): ShownTarget {
    const name = this.#parts.devices.list.find((each) => each.id === device)?.name
    return {
      id,
      kind: target.kind,
      origin: originOf(target.url),
      ...(name !== undefined && { device: name }),
      addedAt,
    }
  }

  /** Adds a target. One with the same address is replaced, so that a browser that subscribes again has one target. */
  add(target: NotificationTarget, device?: string): StoredTarget {
    const { notifier, limits, world } = this.#parts
    const problem = notifier.problemOf(target)
    if (problem !== undefined) throw AhpError.invalidParams(problem)
    this.#forgetRevoked()
    const same = this.#stored.values().find((each) => each.target.url === target.url)
    if (same && same.device !== device)
      throw AhpError.permissionDenied('another device has subscribed with this address')
    if (!same && this.#stored.size >= limits.pushTargets)
      throw AhpError.permissionDenied(
        `this host notifies ${this.#stored.size} targets, and may have no more: remove one first`,
      )
    const id = same?.id ?? world.id()
    const addedAt = new Date(world.now()).toISOString()
    const stored = { id, addedAt, ...(device !== undefined && { device }), target }
    this.#stored.set(id, stored)
    return stored
  }

  remove(id: string): boolean {
    return this.#stored.delete(id)
  }

  #forgetRevoked(): void {
    const present = new Set(this.all.map(({ id }) => id))
    for (const id of this.#stored.keys()) if (!present.has(id)) this.#stored.delete(id)
  }
}

/** The origin of an address that was checked. The platform's parser is not used, so that this package needs none. */
function originOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]+/i.exec(url)?.[0] ?? ''
}

const stored = object('StoredTarget', {
  id: string,
  addedAt: string,
  device: optional(string),
  target: object('StoredTargetAddress', {
    kind: oneOf('StoredTargetKind', ['webPush', 'webhook', 'ntfy']),
    url: string,
    p256dh: optional(string),
    auth: optional(string),
  }),
})

const format = {
  read(text: string): StoredTarget {
    const decoded = decode(stored, JSON.parse(text))
    if (!decoded.ok) throw new Damaged('a target of notifications is damaged')
    // The schema has checked all fields but one: a target of Web Push has keys, because `add` has checked them.
    return decoded.value as StoredTarget
  },
  write: (value: StoredTarget) => JSON.stringify(value),
}
