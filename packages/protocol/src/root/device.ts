import { isJsonObject } from '../json.ts'
import { decode, id, object, oneOf, optional, string } from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'

/** The key of `_meta` that only hosts of this project write. Values may come from other hosts, so they are checked. */
const key = 'x-atrium'

/** The roles of devices, from the fewest rights to all rights. Each role has the rights of the roles before it. */
export const roles = ['watch', 'prompt', 'approve', 'own'] as const
export const Role = oneOf('Role', roles)
export type Role = TypeOf<typeof Role>

/** Whether a role has the rights of another role. */
export function includes(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

const device = {
  id,
  /** The name that a user gave to the device. */
  name: string,
  role: Role,
  /** ISO 8601 times. */
  pairedAt: string,
  seenAt: optional(string),
}
/**
 * A device: a credential of a principal, with a name and a role. A connection without a device was opened with the
 * token of the host.
 */
export interface Device extends Infer<typeof device> {}
export const Device = object<Device>('AtriumDevice', device)

/** The reason with which the host closes the links of a device when the device is revoked. */
export const deviceRevoked = 'this device was revoked'

/** The device of a client, as the host names it in the result of `initialize`. Undefined for a client with the host's token. */
export function deviceIn(initialized: { readonly _meta?: object }): Device | undefined {
  const all: { readonly [name: string]: unknown } = { ...initialized._meta }
  const own = all[key]
  const decoded = decode(Device, isJsonObject(own) ? own['device'] : undefined)
  return decoded.ok ? decoded.value : undefined
}
