import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Grant } from '@atrium/host/access/grants'
import type { Permission } from '@atrium/host/access/permissions'
import type { Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import { assertAccepted } from '../link/dispatch.ts'
import { allSessions, readSessions } from './find.ts'

const grantsKey = 'atrium.grants'
const permissionsKey = 'atrium.permissions'

/** A folder that all clients and agents may use, or a tool that needs no approval. Both last until they are revoked. */
export type PermissionGrant =
  | ({ readonly kind: 'grant' } & Grant)
  | ({ readonly kind: 'permission'; readonly session?: Uri } & Permission)

/** Returns all grants of the host: folders, tools in folders, and tools in single sessions. */
export async function allPermissionGrants(client: Client): Promise<readonly PermissionGrant[]> {
  const root = await client.subscribe('root', rootUri).ready()
  const values = root.config?.values
  const inSessions: PermissionGrant[] = []
  // The session list does not include permissions, so each session is read.
  await readSessions(client, await allSessions(client), (state, session) => {
    for (const each of permissionsIn(state.config?.values))
      inSessions.push({ kind: 'permission', session, ...each })
  })
  return [
    ...grantsIn(values).map((grant) => ({ kind: 'grant' as const, ...grant })),
    ...permissionsIn(values).map((permission) => ({ kind: 'permission' as const, ...permission })),
    ...inSessions,
  ]
}

/** Grants a folder to all clients and agents. An earlier grant of the same folder is replaced. */
export async function grantFolder(client: Client, uri: Uri, write: boolean): Promise<void> {
  const root = client.subscribe('root', rootUri)
  const others = grantsIn((await root.ready()).config?.values).filter((grant) => grant.uri !== uri)
  await setRoot(root, { [grantsKey]: [...others, { uri, ...(write && { write }) }] })
}

export async function revokePermission(client: Client, revoked: PermissionGrant): Promise<void> {
  if (revoked.kind === 'permission' && revoked.session !== undefined) {
    const session = client.subscribe('session', revoked.session)
    const left = permissionsIn((await session.ready()).config?.values).filter(({ id }) => id !== revoked.id)
    assertAccepted(
      await session.dispatch({ type: 'session/configChanged', config: { [permissionsKey]: left } }),
    )
    return
  }
  const root = client.subscribe('root', rootUri)
  const values = (await root.ready()).config?.values
  const change =
    revoked.kind === 'grant'
      ? { [grantsKey]: grantsIn(values).filter(({ uri }) => uri !== revoked.uri) }
      : { [permissionsKey]: permissionsIn(values).filter(({ id }) => id !== revoked.id) }
  await setRoot(root, change)
}

export async function setRoot(root: Subscription<'root'>, config: Record<string, unknown>): Promise<void> {
  assertAccepted(await root.dispatch({ type: 'root/configChanged', config }))
}

type Values = Readonly<Record<string, unknown>> | undefined

/**
 * The granted folders in the config. Entries of another shape are left out: another host may use the key differently.
 */
function grantsIn(values: Values): readonly Grant[] {
  return listIn(values, grantsKey).filter(
    (each): each is Grant => isObject(each) && 'uri' in each && typeof each.uri === 'string',
  )
}

function permissionsIn(values: Values): readonly Permission[] {
  return listIn(values, permissionsKey).filter(
    (each): each is Permission =>
      isObject(each) &&
      'id' in each &&
      typeof each.id === 'string' &&
      'tool' in each &&
      typeof each.tool === 'string',
  )
}

function listIn(values: Values, key: string): readonly unknown[] {
  const list: unknown = values?.[key]
  return Array.isArray(list) ? list : []
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
