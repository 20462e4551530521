import { TextRange } from '../common/text.ts'
import { isJsonObject } from '../json.ts'
import { array, boolean, decode, id, object, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'
import type { Annotation, AnnotationEntry } from './state.ts'

/**
 * The key of `_meta` under which an Atrium host adds its own data to annotations: who wrote an entry, and the text
 * that an annotation stays attached to. Clients cannot write this key. Another host may, so the values are checked.
 */
const key = 'x-atrium'

const author = {
  /** The identity behind the token of a client; absent if an agent wrote the entry. */
  principal: optional(string),
  clientId: optional(id),
  /** The name that the client gave itself, or the name of the agent. */
  name: optional(string),
  /** The name of the client's device. */
  device: optional(string),
  /** The agent that wrote the entry, and its chat. */
  provider: optional(id),
  chat: optional(id),
}
/** Who wrote an entry: a client or an agent. */
export interface Author extends Infer<typeof author> {}
const Author = object<Author>('Author', author)

const anchor = {
  /** The file and the range for which the anchor was made. */
  resource: id,
  range: TextRange,
  /** All lines of the text. If it is long, only its first and its last lines. */
  lines: array(string),
  /** The lines right before and right after the text. */
  before: array(string),
  after: array(string),
}
/**
 * The text that an annotation stays attached to when lines of the file move. Long lines are cut, and long texts lack
 * their middle.
 */
export interface Anchor extends Infer<typeof anchor> {}
const Anchor = object<Anchor>('Anchor', anchor)

const own = { anchor: optional(Anchor), outdated: optional(boolean) }
/** The host's data of an annotation. `outdated`: the file no longer has the text that the annotation is about. */
export interface OwnAnnotationData extends Infer<typeof own> {}
const Own = object<OwnAnnotationData>('OwnAnnotationData', own)

/** Returns the author of an entry. Undefined if the host did not record it. */
export function authorOf(entry: AnnotationEntry): Author | undefined {
  const data = ownIn(entry)
  const decoded = decode(Author, isJsonObject(data) ? data['author'] : undefined)
  return decoded.ok ? decoded.value : undefined
}

export function ownDataOf(annotation: Annotation): OwnAnnotationData {
  const decoded = decode(Own, ownIn(annotation))
  return decoded.ok ? decoded.value : {}
}

/** Whether the text that an annotation is about is gone from its file. */
export function isOutdated(annotation: Annotation): boolean {
  return ownDataOf(annotation).outdated === true
}

type WithMeta = Pick<AnnotationEntry, '_meta'>

/** Replaces the host's data in `_meta`. An absent value removes it. */
export function withOwn<T extends WithMeta>(holder: T, data: object | undefined): T {
  const { [key]: _, ...others } = holder._meta ?? {}
  const meta = data ? { ...others, [key]: data } : others
  const { _meta, ...rest } = holder
  // Only the optional member `_meta` is replaced, so the result has the type of the holder.
  return (Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest) as T
}

/** The host's data in `_meta`, unchecked. */
export function ownIn({ _meta }: WithMeta): object | undefined {
  const data = _meta?.[key]
  return isJsonObject(data) ? data : undefined
}
