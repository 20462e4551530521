import { client, host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { ErrorInfo } from '../common/content.ts'
import { array, boolean, id, optional } from '../schema.ts'
import { ChangesetFile, ChangesetOperation, ChangesetOperationStatus, ChangesetStatus } from './state.ts'

export const changesetActions = {
  'changeset/statusChanged': host({ status: ChangesetStatus, error: optional(ErrorInfo) }),
  'changeset/fileSet': host({ file: ChangesetFile }),
  'changeset/fileRemoved': host({ fileId: id }),
  'changeset/filesReviewChanged': client({ files: array(id), reviewed: boolean }),
  'changeset/contentChanged': host({
    files: array(ChangesetFile),
    operations: optional(array(ChangesetOperation)),
  }),
  'changeset/operationsChanged': host({ operations: optional(array(ChangesetOperation)) }),
  'changeset/operationStatusChanged': host({
    operationId: id,
    status: ChangesetOperationStatus,
    error: optional(ErrorInfo),
  }),
  'changeset/cleared': host({}),
}
export type ChangesetAction = ActionsOf<typeof changesetActions>
