import type { Uri } from '@atrium/protocol/channel'
import type { ConfirmationOption } from '@atrium/protocol/chat/tool'
import type { SessionConfigPropertySchema } from '@atrium/protocol/common/config'
import { pathOf } from '@atrium/protocol/file-uri'
import { array, decode, id, object, optional, string } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'
import { choices } from './choices.ts'
import { equal } from '../log/equal.ts'

/** The key of what is allowed without asking: in a session's config for that session, in the root's for folders. */
export const permissionsKey = 'atrium.permissions'

const permission = {
  id,
  /** The name of the tool. */
  tool: string,
  /** Where: sessions that work in this folder. In a session's own list it is absent, and means that session. */
  folder: optional(id),
  /** The client whose user allowed it. */
  by: optional(string),
  since: optional(string),
}
/** What somebody has allowed for more than once. Everyone sees it, anybody can take it back, and it outlives the host. */
export interface Permission extends Infer<typeof permission> {}
export const Permissions = array(object<Permission>('Permission', permission))

/** How a config shows it. */
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

/** Values that take the place of others, and leave what is allowed as it was. */
export function withPermissions(values: Values, before: Values = {}): Values {
  return Object.hasOwn(before, permissionsKey)
    ? { ...values, [permissionsKey]: before[permissionsKey] }
    : values
}

/** Whether a tool may be used without asking: in this session, or in a folder that it works in. */
export function allows(
  tool: string,
  session: Values | undefined,
  root: Values | undefined,
  folder: Uri | undefined,
): boolean {
  if (permissionsIn(session).some((each) => each.tool === tool)) return true
  return permissionsIn(root).some(
    (each) => each.tool === tool && each.folder !== undefined && each.folder === folder,
  )
}

/** What is wrong with a list of permissions that somebody wants to set, in words. */
export function permissionsProblem(value: unknown, most: number): string | undefined {
  const decoded = decode(Permissions, value)
  if (!decoded.ok) return `${permissionsKey}: ${decoded.problem}`
  const crowd = countProblem(decoded.value.length, most)
  if (crowd !== undefined) return crowd
  for (const { folder } of decoded.value) {
    const named = folder === undefined ? undefined : pathOf(folder)
    if (named && !named.ok)
      return `${permissionsKey}: ${JSON.stringify(folder?.slice(0, 200))}: ${named.problem}`
  }
  return undefined
}

/** Who adds one does so in their own name: what another has allowed, and somebody took back, comes back by no old list. */
export function forgedPermission(
  given: Values,
  before: Values | undefined,
  clientId: string,
): string | undefined {
  const list = permissionsIn(before)
  const forged = permissionsIn(given).some(
    (each) => each.by !== undefined && each.by !== clientId && !list.some((one) => equal(one, each)),
  )
  return forged ? 'a permission is given in the name of the client that gives it' : undefined
}

export function countProblem(count: number, most: number): string | undefined {
  return count > most ? `there are at most ${most} permissions` : undefined
}

export function optionsFor(folder: Uri | undefined): readonly ConfirmationOption[] {
  return [
    { id: choices.once, label: 'Allow once', kind: 'approve', group: 1 },
    { id: choices.session, label: 'Allow in this session', kind: 'approve', group: 1 },
    ...(folder === undefined
      ? []
      : [{ id: choices.folder, label: 'Always allow in this folder', kind: 'approve', group: 1 } as const]),
    { id: choices.deny, label: 'Deny', kind: 'deny', group: 2 },
    { id: choices.denyWhy, label: 'Deny with a reason', kind: 'deny', group: 2 },
  ]
}
