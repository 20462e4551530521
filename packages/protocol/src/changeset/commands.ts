import { ask } from '../command.ts'
import { ContentRef, StringOrMarkdown } from '../common/content.ts'
import { TextRange } from '../common/text.ts'
import { boolean, id, is, object, oneOf, optional, variant } from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'

const side = optional(oneOf('ChangesetSide', ['before', 'after']))

export const ChangesetOperationTarget = variant('ChangesetOperationTarget', 'kind', {
  resource: object('ChangesetResourceTarget', { kind: is('resource'), resource: id, side }),
  range: object('ChangesetRangeTarget', { kind: is('range'), resource: id, side, range: TextRange }),
})
export type ChangesetOperationTarget = TypeOf<typeof ChangesetOperationTarget>

const followUp = { content: ContentRef, external: optional(boolean) }
export interface ChangesetFollowUp extends Infer<typeof followUp> {}
export const ChangesetFollowUp: Schema<ChangesetFollowUp> = object('ChangesetOperationFollowUp', followUp)

export const changesetCommands = {
  invokeChangesetOperation: ask(
    { operationId: id, target: optional(ChangesetOperationTarget) },
    { message: optional(StringOrMarkdown), followUp: optional(ChangesetFollowUp) },
  ),
}
