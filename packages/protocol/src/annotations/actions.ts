import { client } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { TextRange } from '../common/text.ts'
import { boolean, id, optional } from '../schema.ts'
import { Annotation, AnnotationEntry, AnnotationOrigin } from './state.ts'

export const annotationsActions = {
  'annotations/set': client({ annotation: Annotation }),
  'annotations/updated': client({
    annotationId: id,
    origin: optional(AnnotationOrigin),
    resource: optional(id),
    range: optional(TextRange),
    resolved: optional(boolean),
  }),
  'annotations/removed': client({ annotationId: id }),
  'annotations/entrySet': client({ annotationId: id, entry: AnnotationEntry }),
  'annotations/entryRemoved': client({ annotationId: id, entryId: id }),
}
export type AnnotationsAction = ActionsOf<typeof annotationsActions>
