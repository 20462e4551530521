import { reducer } from '../reduce.ts'
import { remove, upsert } from '../update.ts'
import type { AnnotationsAction } from './actions.ts'
import type { Annotation, AnnotationsState } from './state.ts'

export const reduceAnnotations = reducer<AnnotationsState, AnnotationsAction>({
  'annotations/set': (state, { annotation }) => ({
    ...state,
    annotations: upsert(state.annotations, 'id', annotation),
  }),

  'annotations/updated': (state, { annotationId, origin, resource, range, resolved }) =>
    change(state, annotationId, (annotation) => ({
      ...annotation,
      ...(origin && { origin }),
      ...(resource !== undefined && { resource }),
      ...(range && { range }),
      ...(resolved !== undefined && { resolved }),
    })),

  'annotations/removed': (state, { annotationId }) => {
    const annotations = remove(state.annotations, 'id', annotationId)
    return annotations === state.annotations ? state : { ...state, annotations }
  },

  'annotations/entrySet': (state, { annotationId, entry }) =>
    change(state, annotationId, (annotation) => ({
      ...annotation,
      entries: upsert(annotation.entries, 'id', entry),
    })),

  'annotations/entryRemoved': (state, { annotationId, entryId }) =>
    change(state, annotationId, (annotation) => {
      const entries = remove(annotation.entries, 'id', entryId)
      return entries === annotation.entries ? annotation : { ...annotation, entries }
    }),
})

function change(
  state: AnnotationsState,
  id: string,
  update: (annotation: Annotation) => Annotation,
): AnnotationsState {
  const at = state.annotations.findIndex((annotation) => annotation.id === id)
  const old = state.annotations[at]
  const next = old && update(old)
  return !next || next === old ? state : { ...state, annotations: state.annotations.with(at, next) }
}
