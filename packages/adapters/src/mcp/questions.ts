import type { McpAnswers, McpQuestions } from '@atrium/host/ports/mcp'
import { isJsonObject } from '@atrium/protocol/json'
import { visibleJson, visibleText } from '@atrium/protocol/text/visible'
import { contentOf, questionsOf } from './shapes/form.ts'
import type { Form } from './shapes/form.ts'
import type { McpLimits } from './context.ts'
import { isUsable } from './tools.ts'

/** The answer to `elicitation/create`. */
export interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: { readonly [key: string]: string | number | boolean | string[] }
}

/**
 * Answers a form of a server: asks a person the questions of the form, and returns the answers by the keys of the
 * form. Anything that is not a form, and a form that cannot be shown, is cancelled. The hidden characters of a form
 * are removed, also from its keys.
 */
export async function answerForm(
  params: unknown,
  elicit: (questions: McpQuestions) => Promise<McpAnswers>,
  limits: McpLimits,
): Promise<FormAnswer> {
  const { message, requestedSchema, mode = 'form' } = isJsonObject(params) ? params : {}
  const form = mode === 'form' && isUsable(requestedSchema, limits) ? formOf(requestedSchema) : undefined
  if (!form) return { action: 'cancel' }
  const questions = questionsOf(form)
  const { response, answers } = await elicit({
    ...(typeof message === 'string' && {
      message: visibleText(message.slice(0, limits.mcpDescriptionLength)),
    }),
    ...(questions.length > 0 && { questions }),
  })
  if (response !== 'accept') return { action: response }
  // The answers have the types of their questions: texts, numbers, booleans and lists of texts. Hence the cast.
  return { action: 'accept', content: contentOf(form, answers) as NonNullable<FormAnswer['content']> }
}

/** Returns the schema of a form if each of its fields is an object of the expected shape. */
function formOf(schema: object): Form | undefined {
  const visible = visibleJson(schema)
  const { properties = {}, required = [] } = isJsonObject(visible) ? visible : {}
  if (!isJsonObject(properties) || !isTexts(required)) return undefined
  // The check of the fields makes sure of the members that `Field` names. Hence the cast.
  return Object.values(properties).every(isField) ? ({ properties, required } as Form) : undefined
}

function isField(field: unknown): boolean {
  if (!isJsonObject(field)) return false
  const { items } = field
  const texts = ['type', 'title', 'description', 'format'].every((name) => isOptional(field[name], 'string'))
  const numbers = ['minimum', 'maximum', 'minLength', 'maxLength'].every((name) =>
    isOptional(field[name], 'number'),
  )
  const choices = [field['enum'], field['enumNames']].every((list) => list === undefined || isTexts(list))
  const titled = [field['oneOf'], field['anyOf']].every((list) => list === undefined || isTitled(list))
  return texts && numbers && choices && titled && (items === undefined || isField(items))
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isTitled(value: unknown): boolean {
  const isChoice = (each: unknown) =>
    isJsonObject(each) && isOptional(each['const'], 'string') && isOptional(each['title'], 'string')
  return Array.isArray(value) && value.every(isChoice)
}

function isOptional(value: unknown, type: 'string' | 'number'): boolean {
  return value === undefined || typeof value === type
}
