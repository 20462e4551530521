import { command } from '../command.ts'
import { ContentRef, StringOrMarkdown } from '../common/content.ts'
import { TextRange } from '../common/text.ts'
import { boolean, id, is, object, openEnum, optional, variant } from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'

const side = optional(openEnum('ChangesetSide', ['before', 'after']))

const changesetResourceTarget = { kind: is('resource'), resource: id, side }
export interface ChangesetResourceTarget extends Infer<typeof changesetResourceTarget> {}

const changesetRangeTarget = { kind: is('range'), resource: id, side, range: TextRange }
export interface ChangesetRangeTarget extends Infer<typeof changesetRangeTarget> {}

export const ChangesetOperationTarget = variant('ChangesetOperationTarget', 'kind', {
  resource: object<ChangesetResourceTarget>('ChangesetResourceTarget', changesetResourceTarget),
  range: object<ChangesetRangeTarget>('ChangesetRangeTarget', changesetRangeTarget),
})
export type ChangesetOperationTarget = TypeOf<typeof ChangesetOperationTarget>

const followUp = { content: ContentRef, external: optional(boolean) }
export interface ChangesetFollowUp extends Infer<typeof followUp> {}
export const ChangesetFollowUp = object<ChangesetFollowUp>('ChangesetOperationFollowUp', followUp)

export const changesetCommands = {
  invokeChangesetOperation: command(
    { operationId: id, target: optional(ChangesetOperationTarget) },
    { message: optional(StringOrMarkdown), followUp: optional(ChangesetFollowUp) },
  ),
}
