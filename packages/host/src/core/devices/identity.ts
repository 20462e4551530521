import type { Device } from '@atrium/protocol/root/device'

/**
 * Who is behind a link: a principal, and the device whose credential was used. `device` is undefined if the token of
 * the host was used.
 */
export interface Identity {
  readonly principal: string
  readonly device?: Device | undefined
}

export function sameIdentity(one: Identity, other: Identity): boolean {
  return one.principal === other.principal && one.device?.id === other.device?.id
}
