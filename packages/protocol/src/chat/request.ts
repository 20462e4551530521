import {
  array,
  boolean,
  id,
  is,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  variant,
} from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'

const option = { id, label: string, description: optional(string), recommended: optional(boolean) }
export interface ChatInputOption extends Infer<typeof option> {}
export const ChatInputOption: Schema<ChatInputOption> = object('ChatInputOption', option)

const question = { id, title: optional(string), message: string, required: optional(boolean) }
const bounds = { min: optional(number), max: optional(number) }
const choice = { options: array(ChatInputOption), allowFreeformInput: optional(boolean) }
const numeric = { ...question, ...bounds, defaultValue: optional(number) }

export const ChatInputQuestion = variant('ChatInputQuestion', 'kind', {
  text: object('ChatInputTextQuestion', {
    ...question,
    ...bounds,
    kind: is('text'),
    format: optional(string),
    defaultValue: optional(string),
  }),
  number: object('ChatInputNumberQuestion', { ...numeric, kind: is('number') }),
  integer: object('ChatInputIntegerQuestion', { ...numeric, kind: is('integer') }),
  boolean: object('ChatInputBooleanQuestion', {
    ...question,
    kind: is('boolean'),
    defaultValue: optional(boolean),
  }),
  'single-select': object('ChatInputSingleSelectQuestion', {
    ...question,
    ...choice,
    kind: is('single-select'),
  }),
  'multi-select': object('ChatInputMultiSelectQuestion', {
    ...question,
    ...choice,
    ...bounds,
    kind: is('multi-select'),
  }),
})
export type ChatInputQuestion = TypeOf<typeof ChatInputQuestion>

const freeform = { freeformValues: optional(array(string)) }

export const ChatInputAnswerValue = variant('ChatInputAnswerValue', 'kind', {
  text: object('ChatInputTextValue', { kind: is('text'), value: string }),
  number: object('ChatInputNumberValue', { kind: is('number'), value: number }),
  boolean: object('ChatInputBooleanValue', { kind: is('boolean'), value: boolean }),
  selected: object('ChatInputSelectedValue', { kind: is('selected'), value: string, ...freeform }),
  'selected-many': object('ChatInputSelectedManyValue', {
    kind: is('selected-many'),
    value: array(string),
    ...freeform,
  }),
})
export type ChatInputAnswerValue = TypeOf<typeof ChatInputAnswerValue>

export const ChatInputAnswer = variant(
  'ChatInputAnswer',
  'state',
  {
    draft: object('ChatInputDraftAnswer', { state: is('draft'), value: ChatInputAnswerValue }),
    submitted: object('ChatInputSubmittedAnswer', { state: is('submitted'), value: ChatInputAnswerValue }),
    skipped: object('ChatInputSkippedAnswer', { state: is('skipped'), ...freeform }),
  },
  'closed',
)
export type ChatInputAnswer = TypeOf<typeof ChatInputAnswer>

export const ChatInputResponse = oneOf('ChatInputResponseKind', ['accept', 'decline', 'cancel'])
export type ChatInputResponse = TypeOf<typeof ChatInputResponse>

const chatInputRequest = {
  id,
  message: optional(string),
  url: optional(id),
  questions: optional(array(ChatInputQuestion)),
  /** By question id. */
  answers: optional(record(ChatInputAnswer)),
}
/** Questions an agent puts to a person while its turn goes on. */
export interface ChatInputRequest extends Infer<typeof chatInputRequest> {}
export const ChatInputRequest: Schema<ChatInputRequest> = object('ChatInputRequest', chatInputRequest)
