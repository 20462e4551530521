import { catalogOf } from '../../catalog/catalog.ts'
import type { AnnotationsAction } from '@atrium/protocol/annotations/actions'
import type { Annotation, AnnotationsState } from '@atrium/protocol/annotations/state'
import type { Uri } from '@atrium/protocol/channel'
import type { TextRange } from '@atrium/protocol/common/text'
import { AhpError } from '@atrium/protocol/errors'
import { reducers } from '@atrium/protocol/reducers'
import { containedPath } from '../access/roots.ts'
import { annotatedSession } from '../../channels/annotations-channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { Guarded, Guards } from '../../kernel/rules.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { equal } from '../../kernel/log/equal.ts'
import { withoutOwn } from './author.ts'
import { isFile } from '../resources/client-files.ts'

const guard = (action: AnnotationsAction, { core, channel }: Guarded<'annotations'>) =>
  annotationsProblem(core, channel, action)

export const annotationsGuards: Guards<'annotations'> = {
  'annotations/set': guard,
  'annotations/updated': guard,
  'annotations/removed': guard,
  'annotations/entrySet': guard,
  'annotations/entryRemoved': guard,
}

/**
 * Returns the reason to refuse an action on annotations, whether a client or an agent wants it. Undefined if there is
 * none.
 */
export function annotationsProblem(
  core: Core,
  channel: Channel<'annotations'>,
  action: AnnotationsAction,
): string | undefined {
  const state = channel.head
  const id = action.type === 'annotations/set' ? action.annotation.id : action.annotationId
  const before = annotationIn(state, id)
  if (!before && action.type !== 'annotations/set') return `there is no annotation ${quoted(id)}`
  if (
    action.type === 'annotations/entryRemoved' &&
    !before?.entries.some((each) => each.id === action.entryId)
  )
    return `the annotation has no entry ${quoted(action.entryId)}`
  const after = annotationIn(reducers.annotations(state, action), id)
  if (!after) return undefined
  if (!before && state.annotations.length >= core.limits.annotations)
    return `a session has at most ${core.limits.annotations} annotations: remove some first`
  return shapeProblem(after, core.limits.annotationLength) ?? placeProblem(core, channel.uri, after, before)
}

function shapeProblem(annotation: Annotation, most: number): string | undefined {
  const { id, entries, range } = annotation
  if (id === '') return 'an annotation needs an id'
  if (entries.length === 0) return 'an annotation has at least one entry: remove the annotation instead'
  const ids = new Set(entries.map((entry) => entry.id))
  if (ids.has('')) return 'an entry needs an id'
  if (ids.size < entries.length) return 'two entries of the annotation have the same id'
  if (range && isBackwards(range)) return 'the range ends before it starts'
  // The host's data does not count towards the limit: its length is bounded, and a client cannot shorten it.
  if (JSON.stringify(withoutOwn(annotation)).length > most)
    return `an annotation has at most ${most} characters, with its entries`
  return undefined
}

/**
 * Returns the problem with the origin or the resource of an annotation. If either has not changed, it is not checked:
 * it was valid when it was accepted, and stays valid even if its chat has moved to another session.
 */
function placeProblem(
  core: Core,
  uri: Uri,
  { resource, origin }: Annotation,
  before: Annotation | undefined,
): string | undefined {
  const session = annotatedSession(core, uri)
  if (!equal(origin, before?.origin)) {
    if (origin.session !== session) return 'the origin of the annotation is another session'
    if (origin.chat !== undefined && catalogOf(core).sessionOf(origin.chat) !== session)
      return 'the session has no such chat'
  }
  return resource === before?.resource ? undefined : resourceProblem(core, resource)
}

/**
 * Returns the problem with the resource of an annotation. A file must be one that clients may read. URIs of other
 * schemes are accepted, because the host does not read them.
 */
function resourceProblem(core: Core, resource: Uri): string | undefined {
  if (!isFile(resource))
    return /^[a-z][a-z0-9+.-]*:./i.test(resource) ? undefined : 'the resource of an annotation is a URI'
  try {
    containedPath(core, resource, 'read')
    return undefined
  } catch (error) {
    if (error instanceof AhpError) return error.message
    throw error
  }
}

export function annotationIn(state: AnnotationsState, id: string): Annotation | undefined {
  return state.annotations.find((annotation) => annotation.id === id)
}

function isBackwards({ start, end }: TextRange): boolean {
  return end.line < start.line || (end.line === start.line && end.character < start.character)
}

function quoted(id: string): string {
  return JSON.stringify(id.slice(0, 100))
}
