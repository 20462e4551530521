import { includes } from '@atrium/protocol/root/device'
import type { Device, Role } from '@atrium/protocol/root/device'
import type { Core } from './core.ts'

/**
 * The role that a command or an action needs: a fixed role, or a function that computes the role from its content.
 */
export type Needed<V> = Role | ((value: V, core: Core) => Role)

/** A link, as far as its role is concerned. A link without a device has the token of the host, and so the role `own`. */
interface Holder {
  readonly device?: Device | undefined
}

/**
 * Why the device of a link may not run a command or dispatch an action; undefined if it may. The schema of its name has checked the
 * value.
 */
export function valueProblem(
  core: Core,
  { device }: Holder,
  name: string,
  value: unknown,
): string | undefined {
  return device && roleProblem({ device }, name, core.parts.role(name, value))
}

/** Why the device of a link may not do what needs this role; undefined if it may. */
export function roleProblem({ device }: Holder, what: string, needed: Role): string | undefined {
  if (!device || includes(device.role, needed)) return undefined
  return `${what} needs the role ${needed}; the device ${JSON.stringify(device.name)} has the role ${device.role}`
}
