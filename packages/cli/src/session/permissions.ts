import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Grant } from '@atrium/host/access/grants'
import type { Permission } from '@atrium/host/access/permissions'
import type { Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import { allSessions, lookInto } from './find.ts'
import { accepted } from '../link/dispatch.ts'

export const grantsKey = 'atrium.grants'
export const permissionsKey = 'atrium.permissions'

/** Something that was allowed, and stays so until somebody takes it back. */
export type Allowance =
  | ({ readonly kind: 'grant' } & Grant)
  | ({ readonly kind: 'permission'; readonly session?: Uri } & Permission)

/** All that stands on this host: folders for everyone, tools in folders, tools in single sessions. */
export async function allAllowances(client: Client): Promise<readonly Allowance[]> {
  const root = await client.subscribe('root', rootUri).ready()
  const values = root.config?.values
  const inSessions: Allowance[] = []
  // A list of sessions says nothing of this, so each is looked at.
  await lookInto(client, await allSessions(client), (state, session) => {
    for (const each of permissionsIn(state.config?.values))
      inSessions.push({ kind: 'permission', session, ...each })
  })
  return [
    ...grantsIn(values).map((grant) => ({ kind: 'grant' as const, ...grant })),
    ...permissionsIn(values).map((permission) => ({ kind: 'permission' as const, ...permission })),
    ...inSessions,
  ]
}

/** A folder for everyone; one that was granted already has its new terms. */
export async function grantFolder(client: Client, uri: Uri, write: boolean): Promise<void> {
  const root = client.subscribe('root', rootUri)
  const others = grantsIn((await root.ready()).config?.values).filter((grant) => grant.uri !== uri)
  await setRoot(root, { [grantsKey]: [...others, { uri, ...(write && { write }) }] })
}

export async function takeBack(client: Client, allowance: Allowance): Promise<void> {
  if (allowance.kind === 'permission' && allowance.session !== undefined) {
    const session = client.subscribe('session', allowance.session)
    const left = permissionsIn((await session.ready()).config?.values).filter(({ id }) => id !== allowance.id)
    accepted(await session.dispatch({ type: 'session/configChanged', config: { [permissionsKey]: left } }))
    return
  }
  const root = client.subscribe('root', rootUri)
  const values = (await root.ready()).config?.values
  const change =
    allowance.kind === 'grant'
      ? { [grantsKey]: grantsIn(values).filter(({ uri }) => uri !== allowance.uri) }
      : { [permissionsKey]: permissionsIn(values).filter(({ id }) => id !== allowance.id) }
  await setRoot(root, change)
}

export async function setRoot(root: Subscription<'root'>, config: Record<string, unknown>): Promise<void> {
  accepted(await root.dispatch({ type: 'root/configChanged', config } as never))
}

type Values = Readonly<Record<string, unknown>> | undefined

/** Entries of another shape are of a host that means something else by them. */
function grantsIn(values: Values): readonly Grant[] {
  return listIn(values, grantsKey).filter((each) => typeof each['uri'] === 'string') as never
}

function permissionsIn(values: Values): readonly Permission[] {
  const whole = (each: Entry) => typeof each['id'] === 'string' && typeof each['tool'] === 'string'
  return listIn(values, permissionsKey).filter(whole) as never
}

type Entry = Readonly<Record<string, unknown>>

function listIn(values: Values, key: string): readonly Entry[] {
  const list = values?.[key]
  return Array.isArray(list) ? list.filter((each) => typeof each === 'object' && each !== null) : []
}
