import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { Core } from '../core/core.ts'
import { terminals } from '../root/terminal-list.ts'

/** The result of a command that changes state. The response is sent after the action of this sequence number. */
export type Mutation = Promise<{ readonly seq: number }>

/** Throws if the host is read-only. */
export function changeable(core: Core): void {
  const reason = core.readOnlyReason()
  if (reason !== undefined) throw AhpError.permissionDenied(reason)
}

/** Returns whether a URI names a channel, or is an alias of one. */
export function isUsed(core: Core, uri: Uri): boolean {
  const { catalog, log, sessionResources } = core
  const known = catalog.get(uri) ?? catalog.sessionOf(uri) ?? catalog.defaultChatNamed(uri)
  return (
    (known ?? log.channel(uri) ?? sessionResources.sessionOf(uri)) !== undefined ||
    log.staged.has(uri) ||
    terminals(core).some(({ resource }) => resource === uri)
  )
}
