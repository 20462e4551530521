import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { Core } from '../core/core.ts'
import { terminals } from '../root/terminal-list.ts'

/** A command that changed something is answered after this number. */
export type Done = Promise<{ readonly seq: number }>

/** Refuses what would have to be kept where nothing can be. */
export function changeable(core: Core): void {
  const reason = core.unchangeable()
  if (reason !== undefined) throw AhpError.permissionDenied(reason)
}

/** A URI that was used once names nothing else, ever. */
export function goneKey(uri: string): string {
  return `gone/${uri}`
}

/** A name that something has, or that means something. */
export function isUsed(core: Core, uri: Uri): boolean {
  const { catalog, log, belongings } = core
  const known = catalog.get(uri) ?? catalog.sessionOf(uri) ?? catalog.chatMeant(uri)
  return (
    (known ?? log.channel(uri) ?? belongings.sessionOf(uri)) !== undefined ||
    log.hidden.has(uri) ||
    terminals(core).some(({ resource }) => resource === uri)
  )
}
