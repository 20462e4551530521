import { StringOrMarkdown, meta } from '../common/content.ts'
import { TextRange } from '../common/text.ts'
import { array, boolean, id, object, optional } from '../schema.ts'
import type { Infer } from '../schema.ts'

const origin = { session: id, chat: optional(id), turnId: optional(id) }
export interface AnnotationOrigin extends Infer<typeof origin> {}
export const AnnotationOrigin = object<AnnotationOrigin>('AnnotationOrigin', origin)

const entry = { id, text: StringOrMarkdown, ...meta }
export interface AnnotationEntry extends Infer<typeof entry> {}
export const AnnotationEntry = object<AnnotationEntry>('AnnotationEntry', entry)

const annotation = {
  id,
  origin: AnnotationOrigin,
  resource: id,
  /** Absent if the annotation is about the whole file. */
  range: optional(TextRange),
  resolved: boolean,
  entries: array(AnnotationEntry),
  ...meta,
}
export interface Annotation extends Infer<typeof annotation> {}
export const Annotation = object<Annotation>('Annotation', annotation)

const annotationsState = { annotations: array(Annotation) }
export interface AnnotationsState extends Infer<typeof annotationsState> {}
export const AnnotationsState = object<AnnotationsState>('AnnotationsState', annotationsState)
