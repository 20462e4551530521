import type { Chat } from '@atrium/host/ports/agent'
import { requestIn } from '@atrium/protocol/chat/repeated-request'
import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ActiveTurn, InputRequestPart } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import type { OutputStream } from './output-stream.ts'

/** The params of `elicitation/create`. */
interface ElicitationRequest {
  readonly message?: string
  readonly url?: string | null
  readonly requestedSchema?: {
    readonly properties?: { readonly [key: string]: Property }
    readonly required?: readonly string[]
  }
}

/** A JSON schema of one field. */
interface Property {
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
  readonly items?: Property & { readonly anyOf?: Property['oneOf'] }
}

/** Answers `elicitation/create`: shows the agent's form as an input request of the chat, and returns the users' answers. */
export async function elicit(params: object, chat: Chat, output: OutputStream, id: string): Promise<object> {
  const { message, url, requestedSchema }: ElicitationRequest = params
  // Some agents send a form with `url: null`.
  const hasUrl = url !== undefined && url !== null
  // Clients open the URL. A URL of a scheme other than http or https could start a program.
  if (hasUrl && !isHttpUrl(url))
    throw AhpError.invalidParams('elicitation/create: only http and https URLs can be opened')
  const properties = Object.entries(requestedSchema?.properties ?? {})
  const required = new Set(requestedSchema?.required)
  const questions = properties.map(([key, property]) => question(key, property, required.has(key)))
  const request: ChatInputRequest = {
    id,
    ...(typeof message === 'string' && { message }),
    ...(hasUrl && { url }),
    ...(questions.length > 0 && { questions }),
  }
  output.write({ type: 'chat/inputRequested', request })
  const state = await chat.when(({ activeTurn }) => requestPart(activeTurn, id)?.response !== undefined)
  const part = requestPart(state.activeTurn, id)
  if (part?.response !== 'accept') return { action: part?.response ?? 'cancel' }
  const answers = part.request.answers ?? {}
  const content = properties.flatMap(([key, property]) => {
    const value = valueOf(answers[key], property)
    return value === undefined ? [] : [[key, value] as const]
  })
  return { action: 'accept', content: Object.fromEntries(content) }
}

function question(id: string, property: Property, required: boolean): ChatInputQuestion {
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

/**
 * Marks the agent's default choices as recommended. They are not preselected, because only choices that users made count as
 * answers.
 */
function withRecommended(choices: readonly Choice[], { default: defaults }: Property): Choice[] {
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

function choicesOf(property: Property['items']): Choice[] | undefined {
  const titled = property?.oneOf ?? property?.anyOf
  if (titled) return titled.map((each) => ({ id: each.const ?? '', label: each.title ?? each.const ?? '' }))
  return property?.enum?.map((id, i) => ({ id, label: property.enumNames?.[i] ?? id }))
}

function valueOf(answer: ChatInputAnswer | undefined, property: Property): unknown {
  const isChoice = choicesOf(property) ?? choicesOf(property.items)
  // The form shows the default of every question except a choice. A user who accepts the form accepts the shown defaults.
  if (answer?.state !== 'submitted') return isChoice ? undefined : property.default
  const { value } = answer
  return value.kind === 'selected-many' ? [...value.value, ...(value.freeformValues ?? [])] : value.value
}

function isHttpUrl(url: unknown): url is string {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

function requestPart(turn: ActiveTurn | undefined, id: string): InputRequestPart | undefined {
  return requestIn(turn?.responseParts, id)
}
