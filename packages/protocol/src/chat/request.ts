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
import type { Infer, TypeOf } from '../schema.ts'

const option = { id, label: string, description: optional(string), recommended: optional(boolean) }
export interface ChatInputOption extends Infer<typeof option> {}
export const ChatInputOption = object<ChatInputOption>('ChatInputOption', option)

const question = { id, title: optional(string), message: string, required: optional(boolean) }
const bounds = { min: optional(number), max: optional(number) }
const choice = { options: array(ChatInputOption), allowFreeformInput: optional(boolean) }
const numeric = { ...question, ...bounds, defaultValue: optional(number) }

const textQuestion = {
  ...question,
  ...bounds,
  kind: is('text'),
  format: optional(string),
  defaultValue: optional(string),
}
export interface ChatInputTextQuestion extends Infer<typeof textQuestion> {}

const numberQuestion = { ...numeric, kind: is('number') }
export interface ChatInputNumberQuestion extends Infer<typeof numberQuestion> {}

const integerQuestion = { ...numeric, kind: is('integer') }
export interface ChatInputIntegerQuestion extends Infer<typeof integerQuestion> {}

const booleanQuestion = {
  ...question,
  kind: is('boolean'),
  defaultValue: optional(boolean),
}
export interface ChatInputBooleanQuestion extends Infer<typeof booleanQuestion> {}

const singleSelectQuestion = {
  ...question,
  ...choice,
  kind: is('single-select'),
}
export interface ChatInputSingleSelectQuestion extends Infer<typeof singleSelectQuestion> {}

const multiSelectQuestion = {
  ...question,
  ...choice,
  ...bounds,
  kind: is('multi-select'),
}
export interface ChatInputMultiSelectQuestion extends Infer<typeof multiSelectQuestion> {}

export const ChatInputQuestion = variant('ChatInputQuestion', 'kind', {
  text: object<ChatInputTextQuestion>('ChatInputTextQuestion', textQuestion),
  number: object<ChatInputNumberQuestion>('ChatInputNumberQuestion', numberQuestion),
  integer: object<ChatInputIntegerQuestion>('ChatInputIntegerQuestion', integerQuestion),
  boolean: object<ChatInputBooleanQuestion>('ChatInputBooleanQuestion', booleanQuestion),
  'single-select': object<ChatInputSingleSelectQuestion>(
    'ChatInputSingleSelectQuestion',
    singleSelectQuestion,
  ),
  'multi-select': object<ChatInputMultiSelectQuestion>('ChatInputMultiSelectQuestion', multiSelectQuestion),
})
export type ChatInputQuestion = TypeOf<typeof ChatInputQuestion>

const freeform = { freeformValues: optional(array(string)) }

const textValue = { kind: is('text'), value: string }
export interface ChatInputTextValue extends Infer<typeof textValue> {}

const numberValue = { kind: is('number'), value: number }
export interface ChatInputNumberValue extends Infer<typeof numberValue> {}

const booleanValue = { kind: is('boolean'), value: boolean }
export interface ChatInputBooleanValue extends Infer<typeof booleanValue> {}

const selectedValue = { kind: is('selected'), value: string, ...freeform }
export interface ChatInputSelectedValue extends Infer<typeof selectedValue> {}

const selectedManyValue = {
  kind: is('selected-many'),
  value: array(string),
  ...freeform,
}
export interface ChatInputSelectedManyValue extends Infer<typeof selectedManyValue> {}

export const ChatInputAnswerValue = variant('ChatInputAnswerValue', 'kind', {
  text: object<ChatInputTextValue>('ChatInputTextValue', textValue),
  number: object<ChatInputNumberValue>('ChatInputNumberValue', numberValue),
  boolean: object<ChatInputBooleanValue>('ChatInputBooleanValue', booleanValue),
  selected: object<ChatInputSelectedValue>('ChatInputSelectedValue', selectedValue),
  'selected-many': object<ChatInputSelectedManyValue>('ChatInputSelectedManyValue', selectedManyValue),
})
export type ChatInputAnswerValue = TypeOf<typeof ChatInputAnswerValue>

const draftAnswer = { state: is('draft'), value: ChatInputAnswerValue }
export interface ChatInputDraftAnswer extends Infer<typeof draftAnswer> {}

const submittedAnswer = { state: is('submitted'), value: ChatInputAnswerValue }
export interface ChatInputSubmittedAnswer extends Infer<typeof submittedAnswer> {}

const skippedAnswer = { state: is('skipped'), ...freeform }
export interface ChatInputSkippedAnswer extends Infer<typeof skippedAnswer> {}

export const ChatInputAnswer = variant(
  'ChatInputAnswer',
  'state',
  {
    draft: object<ChatInputDraftAnswer>('ChatInputDraftAnswer', draftAnswer),
    submitted: object<ChatInputSubmittedAnswer>('ChatInputSubmittedAnswer', submittedAnswer),
    skipped: object<ChatInputSkippedAnswer>('ChatInputSkippedAnswer', skippedAnswer),
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
  /** The answers by question id. */
  answers: optional(record(ChatInputAnswer)),
}
/** Questions that an agent asks the user during a turn. */
export interface ChatInputRequest extends Infer<typeof chatInputRequest> {}
export const ChatInputRequest = object<ChatInputRequest>('ChatInputRequest', chatInputRequest)
