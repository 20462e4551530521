import type { Device } from '@atrium/protocol/root/device'
import type { Listener } from '../log/entry.ts'

/** One client's link to the host, as the rest of the core sees it. */
export interface Link extends Listener {
  readonly clientId: string
  readonly principal: string
  /** The device whose credential the client has used. Undefined if it has used the token of the host. */
  readonly device?: Device | undefined
  close(code: number, reason: string): void
  /** Sends a request to the client. */
  ask?(method: string, params: object): Promise<unknown>
}

/** Who is behind a link. `device` is undefined if the token of the host was used. */
export type Identity = Pick<Link, 'principal' | 'device'>

export function sameIdentity(one: Identity, other: Identity): boolean {
  return one.principal === other.principal && one.device?.id === other.device?.id
}
