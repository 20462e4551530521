import type { AnnotationsAction } from '@atrium/protocol/annotations/actions'
import { ownIn, withOwn } from '@atrium/protocol/annotations/own'
import type { Author } from '@atrium/protocol/annotations/own'
import type { Annotation, AnnotationEntry, AnnotationsState } from '@atrium/protocol/annotations/state'
import type { Action } from '@atrium/protocol/channel'
import { compact } from '@atrium/protocol/update'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { Channel } from '../../kernel/log/channel.ts'
import { equal } from '../../kernel/log/equal.ts'

/** A client that dispatches an action. */
interface Writer {
  readonly principal: string
  readonly clientId: string
  readonly client?: Implementation
  /** The name of the client's device. */
  readonly device?: string
}

/**
 * Writes into each new or changed entry of a client's action who wrote it. This is data of the host, in the `_meta`
 * of entries and annotations. If a client sends such data, it is dropped, and the earlier data stays.
 */
export function withAuthor(channel: Channel, action: Action, by: Writer): Action {
  return channel.is('annotations') && isNote(action) ? signedNote(channel.head, action, by) : action
}

function signedNote({ annotations }: AnnotationsState, action: Note, by: Writer): Note {
  if (action.type === 'annotations/entrySet') {
    const before = annotations.find(({ id }) => id === action.annotationId)
    return { ...action, entry: signed(action.entry, before, by) }
  }
  const before = annotations.find(({ id }) => id === action.annotation.id)
  const entries = action.annotation.entries.map((entry) => signed(entry, before, by))
  return { ...action, annotation: withOwn({ ...action.annotation, entries }, before && ownIn(before)) }
}

function signed(entry: AnnotationEntry, annotation: Annotation | undefined, by: Writer): AnnotationEntry {
  const before = annotation?.entries.find(({ id }) => id === entry.id)
  if (before && equal(before.text, entry.text)) return withOwn(entry, ownIn(before))
  const { principal, clientId, client, device } = by
  const author = compact<Author>({ principal, clientId, name: client?.title ?? client?.name, device })
  return withOwn(entry, { author })
}

/**
 * Whether a client has sent an accepted action again. The host's data, which only the accepted action contains, is
 * not compared.
 */
export function isSameNote(accepted: Action, action: Action): boolean {
  return isNote(accepted) && isNote(action) && equal(asSent(accepted), asSent(action))
}

type Note = Extract<AnnotationsAction, { readonly type: 'annotations/set' | 'annotations/entrySet' }>

/** Removes the host's data from an action. */
function asSent(action: Note): Note {
  if (action.type === 'annotations/entrySet') return { ...action, entry: withOwn(action.entry, undefined) }
  return { ...action, annotation: withoutOwn(action.annotation) }
}

/** Removes the host's data from an annotation and from its entries. */
export function withoutOwn(annotation: Annotation): Annotation {
  const entries = annotation.entries.map((entry) => withOwn(entry, undefined))
  return withOwn({ ...annotation, entries }, undefined)
}

/** Whether an action writes entries. The action was checked by its schema, so its type tells its shape. */
function isNote(action: Action): action is Note {
  return action.type === 'annotations/set' || action.type === 'annotations/entrySet'
}
