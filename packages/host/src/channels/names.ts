import { aliasesOf } from '../catalog/aliases.ts'
import { catalogOf } from '../catalog/catalog.ts'
import { sessionResourcesOf } from '../catalog/session-resources.ts'
import { changesOf } from '../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { usualAlias } from '../catalog/aliases.ts'
import type { Core } from '../kernel/core.ts'
import { terminals } from '../catalog/lookup.ts'
import { annotatedSession } from './annotations-channel.ts'
import { isGone } from './gone.ts'

/** The result of a command that changes state. The response is sent after the action of this sequence number. */
export type Mutation = Promise<{ readonly seq: number }>

/** Throws if the host is read-only. */
export function changeable(core: Core): void {
  const reason = core.readOnlyReason()
  if (reason !== undefined) throw AhpError.permissionDenied(reason)
}

/** Returns whether a URI names a channel, or is an alias of one. */
export function isUsed(core: Core, uri: Uri): boolean {
  const { log } = core
  const aliases = aliasesOf(core)
  const catalog = catalogOf(core)
  const sessionResources = sessionResourcesOf(core)
  const known =
    catalog.get(uri) ?? catalog.sessionOf(uri) ?? catalog.defaultChatNamed(uri) ?? aliases.resolve(uri)
  return (
    (known ?? annotatedSession(core, uri) ?? log.channel(uri) ?? sessionResources.sessionOf(uri)) !==
      undefined ||
    log.staged.has(uri) ||
    changesOf(core)?.isChangeset(uri) ||
    terminals(core).some(({ resource }) => resource === uri)
  )
}

/** Returns whether the usual alias of a new session is or was the URI of another channel. */
export async function aliasTaken(core: Core, session: Uri, provider: string): Promise<boolean> {
  const alias = usualAlias(session, provider)
  return alias !== undefined && (isUsed(core, alias) || (await isGone(core, alias)))
}

/** Gives a session an unused alias, because the usual one is taken. */
export function assignAlias(core: Core, session: Uri, provider: string): void {
  aliasesOf(core).assign(session, `${usualAlias(session, provider)}-${core.world.id()}`)
}

/** Gives another alias to each session of an earlier build whose usual alias is taken. Runs once for a store. */
export async function settleAliases(core: Core): Promise<void> {
  if ((await core.records.get(settled)) !== undefined) return
  for (const { resource, provider } of catalogOf(core).all)
    if (await wasUsed(core, usualAlias(resource, provider))) assignAlias(core, resource, provider)
  core.records.put(settled, '')
}

/**
 * Whether a URI names a session, or a channel that is gone. In contrast to `isUsed`, it does not matter whether the
 * URI is the alias of a session.
 */
async function wasUsed(core: Core, uri: Uri | undefined): Promise<boolean> {
  return uri !== undefined && (catalogOf(core).get(uri) !== undefined || (await isGone(core, uri)))
}

const settled = 'aliases'
