import { catalogOf } from '../catalog/catalog.ts'
import { sessionResourcesOf } from '../catalog/session-resources.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { AnnotationsSummary } from '@atrium/protocol/session/state'
import { sessionOfAnnotations } from '@atrium/protocol/uri'
import type { Core } from '../kernel/core.ts'
import { unloaded } from '../kernel/log/channel.ts'
import type { Channel } from '../kernel/log/channel.ts'

/**
 * Returns the session whose annotations have this URI, if there is such a session. Every session has a channel of annotations.
 * The channel is created when somebody first asks for it, so that a session without annotations costs nothing.
 */
export function annotatedSession(core: Core, uri: Uri): Uri | undefined {
  const session = sessionOfAnnotations(uri)
  // Clients choose the URIs of sessions and chats, and one of those may look like a channel of annotations.
  if (session === undefined || catalogOf(core).get(uri) || catalogOf(core).sessionOf(uri) !== undefined)
    return undefined
  return catalogOf(core).get(session) && session
}

/** Returns the session of a channel of annotations, if that channel was created. */
export function hasAnnotations(core: Core, uri: Uri): Uri | undefined {
  return annotatedSession(core, uri) && sessionResourcesOf(core).sessionOf(uri)
}

/** Creates the channel of a session's annotations. Returns false if the host is read-only, or if the session is gone. */
export function openAnnotations(core: Core, uri: Uri): boolean {
  if (core.log.channel(uri)) return true
  const session = annotatedSession(core, uri)
  if (session === undefined || core.readOnlyReason() !== undefined) return false
  core.log.create(uri, 'annotations', { annotations: [] })
  sessionResourcesOf(core).assign(uri, session)
  return true
}

/**
 * Drops the annotations of a session, in the transaction that disposes of the session. The channel need not be in
 * memory.
 */
export function forgetAnnotations(core: Core, uri: Uri): void {
  sessionResourcesOf(core).assign(uri, undefined)
  core.jobs.stop(uri)
  core.sealing.freed()
  core.log.drop(core.log.channel(uri) ?? unloaded(uri, 'annotations'))
}

/** The committed counts of a session's annotations. Undefined if the session never had any. */
export function annotationsSummary(core: Core, channel: Channel): AnnotationsSummary | undefined {
  return channel.is('session') ? catalogOf(core).get(channel.uri)?.annotations : undefined
}
