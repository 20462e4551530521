import { part } from '../../kernel/part.ts'
import { actionRoles, commandRoles } from './needed-roles.ts'

/** The roles that commands and actions need. */
export const roles = part({ name: 'roles', rules: { roles: { ...commandRoles, ...actionRoles } } })
