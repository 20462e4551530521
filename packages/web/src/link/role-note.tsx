import { useMay } from './role.ts'
import type { Role } from './role.ts'

interface Props {
  readonly needed: Role
  /** The action that is not allowed, as in "open terminals or type in them". */
  readonly to: string
}

/** Says that this device may not do something, and which role it would need. Shows nothing if the device may do it. */
export function RoleNote({ needed, to }: Props) {
  if (useMay(needed)) return null
  return (
    <p class="quiet role-note">
      This device may not {to}. That needs the role “{needed}”.
    </p>
  )
}
