import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'

/** A form of MCP: the fields that a server asks for (`requestedSchema` of `elicitation/create`). ACP has the same forms. */
export interface Form {
  readonly properties?: { readonly [key: string]: Field }
  readonly required?: readonly string[]
}

/** A JSON schema of one field. */
export interface Field {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly enum?: readonly string[]
  readonly enumNames?: readonly string[]
  readonly oneOf?: readonly { readonly const?: string; readonly title?: string }[]
  readonly items?: Field & { readonly anyOf?: Field['oneOf'] }
}

/** Returns the questions of a form, one for each field. The id of a question is the key of its field. */
export function questionsOf({ properties = {}, required = [] }: Form): ChatInputQuestion[] {
  return Object.entries(properties).map(([key, field]) => question(key, field, required.includes(key)))
}

/** Returns the content of an accepted form: the users' answers by the keys of the fields. */
export function contentOf(
  { properties = {} }: Form,
  answers: ChatInputRequest['answers'] = {},
): { [key: string]: unknown } {
  const content = Object.entries(properties).flatMap(([key, field]) => {
    const value = valueOf(answers[key], field)
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(content)
}

function question(id: string, property: Field, required: boolean): ChatInputQuestion {
  const { type, title, description, format, minimum: min, maximum: max } = property
  const labels = { id, message: description ?? title ?? id, ...(title !== undefined && { title }), required }
  const choices = choicesOf(property)
  if (choices) return { ...labels, kind: 'single-select', options: withRecommended(choices, property) }
  const manyChoices = type === 'array' ? choicesOf(property.items) : undefined
  if (manyChoices) return { ...labels, kind: 'multi-select', options: withRecommended(manyChoices, property) }
  if (type === 'boolean')
    return {
      ...labels,
      kind: 'boolean',
      ...(typeof property.default === 'boolean' && { defaultValue: property.default }),
    }
  if (type === 'number' || type === 'integer')
    return {
      ...labels,
      kind: type,
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(typeof property.default === 'number' && { defaultValue: property.default }),
    }
  return {
    ...labels,
    kind: 'text',
    ...(format !== undefined && { format }),
    ...(property.minLength !== undefined && { min: property.minLength }),
    ...(property.maxLength !== undefined && { max: property.maxLength }),
    ...(typeof property.default === 'string' && { defaultValue: property.default }),
  }
}

/** Marks the default choices of a form as recommended, because AHP has no default for a question with choices. */
function withRecommended(choices: readonly Choice[], { default: defaults }: Field): Choice[] {
  const recommended: readonly unknown[] = Array.isArray(defaults) ? defaults : [defaults]
  return choices.map((choice) =>
    recommended.includes(choice.id) ? { ...choice, recommended: true } : choice,
  )
}

interface Choice {
  readonly id: string
  readonly label: string
  readonly recommended?: boolean
}

function choicesOf(property: Field['items']): Choice[] | undefined {
  const titled = property?.oneOf ?? property?.anyOf
  if (titled) return titled.map((each) => ({ id: each.const ?? '', label: each.title ?? each.const ?? '' }))
  return property?.enum?.map((id, i) => ({ id, label: property.enumNames?.[i] ?? id }))
}

function valueOf(answer: ChatInputAnswer | undefined, property: Field): unknown {
  const choices = choicesOf(property) ?? (property.type === 'array' ? choicesOf(property.items) : undefined)
  // A user who accepts the form accepts the shown defaults. Of a question with choices, a user may have deselected them all.
  if (answer?.state !== 'submitted')
    return choices && (answer || !isOffered(property.default, choices)) ? undefined : property.default
  const { value } = answer
  return value.kind === 'selected-many' ? [...value.value, ...(value.freeformValues ?? [])] : value.value
}

function isOffered(value: unknown, choices: readonly Choice[]): boolean {
  const wanted: readonly unknown[] = Array.isArray(value) ? value : [value]
  return wanted.every((each) => choices.some(({ id }) => id === each))
}
