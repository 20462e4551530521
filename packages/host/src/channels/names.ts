import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { Core } from '../core/core.ts'
import { terminals } from '../root/terminal-list.ts'

/** A command that changed something is answered after this number. */
export type Mutation = Promise<{ readonly seq: number }>

/** Refuses what would have to be kept where nothing can be. */
export function changeable(core: Core): void {
  const reason = core.readOnlyReason()
  if (reason !== undefined) throw AhpError.permissionDenied(reason)
}

/** A URI that was used once names nothing else, ever. */
export function goneKey(uri: string): string {
  return `gone/${uri}`
}

/** A name that something has, or that means something. */
export function isUsed(core: Core, uri: Uri): boolean {
  const { catalog, log, sessionResources } = core
  const known = catalog.get(uri) ?? catalog.sessionOf(uri) ?? catalog.defaultChatNamed(uri)
  return (
    (known ?? log.channel(uri) ?? sessionResources.sessionOf(uri)) !== undefined ||
    log.staged.has(uri) ||
    terminals(core).some(({ resource }) => resource === uri)
  )
}
