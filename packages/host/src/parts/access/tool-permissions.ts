import type { Uri } from '@atrium/protocol/channel'
import type { ConfirmationOption } from '@atrium/protocol/chat/tool'
import type { SessionConfigPropertySchema } from '@atrium/protocol/common/config'
import { pathOf } from '@atrium/protocol/file-uri'
import { array, decode, id, object, optional, string } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'
import { choices } from './choices.ts'
import { equal } from '../../kernel/log/equal.ts'

/**
 * The config key of the permissions. Those in a session's config hold for that session. Those in the root's config
 * hold for the sessions in a folder.
 */
export const permissionsKey = 'atrium.permissions'

const permission = {
  id,
  /** The name of the tool. */
  tool: string,
  /** The permission holds for sessions that work in this folder. Absent in a session's own list. */
  folder: optional(id),
  /** The id of the client whose user allowed the tool. */
  by: optional(string),
  since: optional(string),
}
/**
 * The permission for a tool to run without approval. All clients see the permission, any client can remove it, and it
 * survives a restart.
 */
export interface Permission extends Infer<typeof permission> {}
export const Permission = object<Permission>('Permission', permission)
export const Permissions = array(Permission)

/** The schema of the permissions in a config. */
export const permissionsProperty: SessionConfigPropertySchema = {
  type: 'array',
  title: 'Allowed tools',
  description: 'Tools that may be used without asking. Take one away, and it is asked for again.',
  items: {
    type: 'object',
    title: 'Permission',
    properties: {
      id: { type: 'string', title: 'Id' },
      tool: { type: 'string', title: 'Tool' },
      folder: { type: 'string', title: 'Folder', description: 'A file: URI. Absent: this session.' },
      by: { type: 'string', title: 'Allowed by' },
      since: { type: 'string', title: 'Since' },
    },
    required: ['id', 'tool'],
  },
  sessionMutable: true,
}

type Values = Readonly<Record<string, unknown>>

export function permissionsIn(values: Values | undefined): readonly Permission[] {
  const decoded = decode(Permissions, values?.[permissionsKey] ?? [])
  return decoded.ok ? decoded.value : []
}

/**
 * Returns the new config values with the permission list of the old ones (`before`), so that an agent that replaces
 * the config does not change the permissions.
 */
export function withPermissions(values: Values, before: Values = {}): Values {
  return Object.hasOwn(before, permissionsKey)
    ? { ...values, [permissionsKey]: before[permissionsKey] }
    : values
}

/**
 * Returns the permission by which a tool may run in this session, or in the folder that the chat works in. Undefined
 * if there is none.
 */
export function permissionFor(
  tool: string,
  session: Values | undefined,
  root: Values | undefined,
  folder: Uri | undefined,
): Permission | undefined {
  const own = permissionsIn(session).find((each) => each.tool === tool)
  if (own) return own
  return permissionsIn(root).find(
    (each) => each.tool === tool && each.folder !== undefined && each.folder === folder,
  )
}

/** Returns the problem with a list of permissions that a client wants to set, if there is one. */
export function permissionsProblem(value: unknown, max: number): string | undefined {
  const decoded = decode(Permissions, value)
  if (!decoded.ok) return `${permissionsKey}: ${decoded.problem}`
  const tooMany = countProblem(decoded.value.length, max)
  if (tooMany !== undefined) return tooMany
  for (const { folder } of decoded.value) {
    const named = folder === undefined ? undefined : pathOf(folder)
    if (named && !named.ok)
      return `${permissionsKey}: ${JSON.stringify(folder?.slice(0, 200))}: ${named.problem}`
  }
  return undefined
}

/**
 * Returns the problem if a client adds a permission in the name of another client. A client whose list is outdated must not
 * bring back a permission that another client gave and that was removed.
 */
export function forgedPermission(
  given: Values,
  before: Values | undefined,
  clientId: string,
): string | undefined {
  const list = permissionsIn(before)
  const forged = permissionsIn(given).some(
    (each) => each.by !== undefined && each.by !== clientId && !list.some((one) => equal(one, each)),
  )
  return forged
    ? 'a client can add permissions only in its own name: set "by" to its client id, or leave it out'
    : undefined
}

export function countProblem(count: number, max: number): string | undefined {
  return count > max ? `there are at most ${max} permissions` : undefined
}

/**
 * The options that a user chooses from when a tool call asks for approval. If no permission can ever cover the call
 * (`isStorable` is false), the options that would store a permission are left out.
 */
export function optionsFor(folder: Uri | undefined, isStorable = true): readonly ConfirmationOption[] {
  const stored: readonly ConfirmationOption[] = [
    { id: choices.session, label: 'Allow in this session', kind: 'approve', group: 1 },
    ...(folder === undefined
      ? []
      : [{ id: choices.folder, label: 'Always allow in this folder', kind: 'approve', group: 1 } as const]),
  ]
  return [
    { id: choices.once, label: 'Allow once', kind: 'approve', group: 1 },
    ...(isStorable ? stored : []),
    { id: choices.deny, label: 'Deny', kind: 'deny', group: 2 },
    { id: choices.denyWhy, label: 'Deny with a reason', kind: 'deny', group: 2 },
  ]
}
