import type { Client } from '@atrium/client/client'
import type { Role } from '@atrium/protocol/root/device'
import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { ownMember, textMember } from './member.ts'

export type { Role } from '@atrium/protocol/root/device'

/** The roles, from the fewest rights to all. The protocol has the same list, beside schemas that the page does not load. */
const roles: readonly Role[] = ['watch', 'prompt', 'approve', 'own']

/**
 * The role of this page, which its host says in the handshake (T6.2). A page that is no device, and one on a host without
 * roles, may do everything. Undefined before the first handshake.
 */
export function roleOf({ host }: Client): Role | undefined {
  if (!host) return undefined
  const role = textMember(ownMember(host, 'device'), 'role')
  return roles.find((each) => each === role) ?? 'own'
}

/** Whether a role allows what needs another role. A page that does not know its role yet tries; the host decides. */
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

/** Whether the role of this page allows what needs a role. */
export function useMay(needed: Role): boolean {
  return may(useContext(Context), needed)
}
