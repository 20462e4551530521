import { reducer } from '../reduce.ts'
import { mapped, patch, remove, upsert } from '../update.ts'
import type { ChangesetAction } from './actions.ts'
import type { ChangesetFile, ChangesetState } from './state.ts'

export const reduceChangeset = reducer<ChangesetState, ChangesetAction>({
  'changeset/statusChanged': (state, { status, error }) =>
    patch(state, { status, error: status === 'error' ? error : undefined }),

  'changeset/fileSet': (state, { file }) => ({ ...state, files: upsert(state.files, 'id', file) }),

  'changeset/fileRemoved': (state, { fileId }) => withFiles(state, remove(state.files, 'id', fileId)),

  'changeset/filesReviewChanged': (state, { files, reviewed }) => {
    const named = new Set(files)
    const review = (file: ChangesetFile) =>
      named.has(file.id) && file.reviewed !== reviewed ? { ...file, reviewed } : file
    return withFiles(state, mapped(state.files, review))
  },

  // The state keeps its error, because only `changeset/statusChanged` sets or removes the error.
  'changeset/contentChanged': (state, { files, operations }) => ({
    ...state,
    files,
    ...(operations && { operations }),
  }),

  'changeset/operationsChanged': (state, { operations }) => patch(state, { operations }),

  'changeset/operationStatusChanged': (state, { operationId, status, error }) => {
    const at = state.operations?.findIndex((operation) => operation.id === operationId) ?? -1
    const operation = state.operations?.[at]
    if (!state.operations || !operation) return state
    const next = patch(operation, { status, error: status === 'error' ? error : undefined })
    return { ...state, operations: state.operations.with(at, next) }
  },

  'changeset/cleared': (state) => (state.files.length === 0 ? state : { ...state, files: [] }),
})

function withFiles(state: ChangesetState, files: ChangesetState['files']): ChangesetState {
  return files === state.files ? state : { ...state, files }
}
