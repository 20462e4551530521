import type { AnnotationsAction } from '@atrium/protocol/annotations/actions'
import type { Annotation, AnnotationOrigin } from '@atrium/protocol/annotations/state'
import type { Uri } from '@atrium/protocol/channel'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import type { TextRange } from '@atrium/protocol/common/text'
import { compact } from '@atrium/protocol/update'
import { annotationsUri } from '@atrium/protocol/uri'
import type { Client } from './client.ts'
import { newId } from './shared/globals.ts'
import type { Subscription } from './sync/handle.ts'

/** A comment on a file, or on a range of it. */
export interface NewComment {
  readonly resource: Uri
  /** Absent: the comment is about the whole file. */
  readonly range?: TextRange
  readonly text: StringOrMarkdown
  /** The chat and the turn that the comment is about, if it is about one. */
  readonly chat?: Uri
  readonly turnId?: string
}

/**
 * The comments on the files of a session, which AHP calls annotations. If the host refuses a change, the promise of
 * that change rejects with the host's reason.
 */
export interface SessionComments {
  /** The subscription to the annotations channel, for what the other members do not offer, such as listeners. */
  readonly channel: Subscription<'annotations'>
  readonly all: readonly Annotation[]
  /** Resolves with the comments when the host has sent them. */
  ready(): Promise<readonly Annotation[]>
  /** Adds a comment. Resolves with its id. */
  add(comment: NewComment): Promise<string>
  /** Adds an entry to a comment. Resolves with the id of the entry. */
  reply(id: string, text: StringOrMarkdown): Promise<string>
  resolve(id: string, resolved?: boolean): Promise<void>
  remove(id: string): Promise<void>
  release(): void
}

export function sessionComments(client: Client, session: Uri): SessionComments {
  const channel = client.subscribe('annotations', annotationsUri(session))
  const send = async (action: AnnotationsAction) => {
    const ended = await channel.dispatch(action)
    if (ended.outcome !== 'accepted') throw new Error(ended.reason)
  }
  return {
    channel,
    get all() {
      return channel.state?.annotations ?? []
    },
    ready: async () => (await channel.ready()).annotations,
    add: async ({ resource, range, text, chat, turnId }) => {
      const id = newId()
      const origin = compact<AnnotationOrigin>({ session, chat, turnId })
      const entries = [{ id: newId(), text }]
      const annotation = compact<Annotation>({ id, origin, resource, range, resolved: false, entries })
      await send({ type: 'annotations/set', annotation })
      return id
    },
    reply: async (annotationId, text) => {
      const id = newId()
      await send({ type: 'annotations/entrySet', annotationId, entry: { id, text } })
      return id
    },
    resolve: (annotationId, resolved = true) => send({ type: 'annotations/updated', annotationId, resolved }),
    remove: (annotationId) => send({ type: 'annotations/removed', annotationId }),
    release: () => channel.release(),
  }
}
