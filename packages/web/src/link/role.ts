import type { Client } from '@atrium/client/client'
import type { Role } from '@atrium/protocol/root/device'
import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { ownMember, textMember } from './member.ts'

export type { Role } from '@atrium/protocol/root/device'

/** The roles, from the fewest rights to all. The protocol has the same list, beside schemas that the page does not load. */
const roles: readonly Role[] = ['watch', 'prompt', 'approve', 'own']

/**
 * The role of this page, which the host tells in the handshake (T6.2). A page that has not entered as a device, or
 * whose host knows no roles, has all rights. Undefined before the first handshake.
 */
export function roleOf({ host }: Client): Role | undefined {
  if (!host) return undefined
  const role = textMember(ownMember(host, 'device'), 'role')
  return roles.find((each) => each === role) ?? 'own'
}

/** Whether a role is at least the needed one. A page that does not know its role yet tries, and the host decides. */
export function may(role: Role | undefined, needed: Role): boolean {
  return role === undefined || roles.indexOf(role) >= roles.indexOf(needed)
}

export function useRole(client: Client): Role | undefined {
  const [role, setRole] = useState(() => roleOf(client))
  useEffect(() => {
    const changed = () => setRole(roleOf(client))
    changed()
    return client.onLink(changed)
  }, [client])
  return role
}

const Context = createContext<Role | undefined>(undefined)

/** Tells all parts of the page its role. */
export const RoleProvider = Context.Provider

/** Whether the role of this page is at least the needed one. */
export function useMay(needed: Role): boolean {
  return may(useContext(Context), needed)
}
