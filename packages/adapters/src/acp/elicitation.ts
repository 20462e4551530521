import type { Chat } from '@atrium/host/ports/agent'
import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import { AhpError } from '@atrium/protocol/errors'
import type { InputRequestPart } from '@atrium/protocol/chat/state'
import type { Asked } from './process/connection.ts'
import type { Voice } from './output-stream.ts'

type Property = {
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

/** An agent asks people something: a form of theirs becomes one of the chat's, and the answers theirs again. */
export async function elicit(asked: Asked, chat: Chat, voice: Voice, id: string): Promise<object> {
  const { message, url, requestedSchema } = asked as {
    readonly message?: string
    readonly url?: string | null
    readonly requestedSchema?: {
      readonly properties?: { readonly [key: string]: Property }
      readonly required?: readonly string[]
    }
  }
  // Some say of what is not there that it is nothing. A client opens a page: what it might do with another address nobody knows.
  const visits = url !== undefined && url !== null
  if (visits && !isPage(url))
    throw AhpError.invalidParams('elicitation/create: only a page of http or https can be shown')
  const properties = Object.entries(requestedSchema?.properties ?? {})
  const required = new Set(requestedSchema?.required)
  const questions = properties.map(([key, property]) => question(key, property, required.has(key)))
  const request: ChatInputRequest = {
    id,
    ...(typeof message === 'string' && { message }),
    ...(visits && { url }),
    ...(questions.length > 0 && { questions }),
  }
  voice.say({ type: 'chat/inputRequested', request })
  const state = await chat.when(({ activeTurn }) => formIn(activeTurn, id)?.response !== undefined)
  const form = formIn(state.activeTurn, id)
  if (form?.response !== 'accept') return { action: form?.response ?? 'cancel' }
  const answers = form.request.answers ?? {}
  const content = properties.flatMap(([key, property]) => {
    const value = valueOf(answers[key], property)
    return value === undefined ? [] : [[key, value] as const]
  })
  return { action: 'accept', content: Object.fromEntries(content) }
}

function question(id: string, property: Property, required: boolean): ChatInputQuestion {
  const { type, title, description, format, minimum: min, maximum: max } = property
  const about = { id, message: description ?? title ?? id, ...(title !== undefined && { title }), required }
  const choices = choicesOf(property)
  if (choices) return { ...about, kind: 'single-select', options: suggested(choices, property) }
  const many = type === 'array' ? choicesOf(property.items) : undefined
  if (many) return { ...about, kind: 'multi-select', options: suggested(many, property) }
  if (type === 'boolean')
    return {
      ...about,
      kind: 'boolean',
      ...(typeof property.default === 'boolean' && { defaultValue: property.default }),
    }
  if (type === 'number' || type === 'integer')
    return {
      ...about,
      kind: type,
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(typeof property.default === 'number' && { defaultValue: property.default }),
    }
  return {
    ...about,
    kind: 'text',
    ...(format !== undefined && { format }),
    ...(property.minLength !== undefined && { min: property.minLength }),
    ...(property.maxLength !== undefined && { max: property.maxLength }),
    ...(typeof property.default === 'string' && { defaultValue: property.default }),
  }
}

/** What the agent would choose is only said to be: an answer that nobody gave is none. */
function suggested(choices: readonly Choice[], { default: usual }: Property): Choice[] {
  const those: readonly unknown[] = Array.isArray(usual) ? usual : [usual]
  return choices.map((choice) => (those.includes(choice.id) ? { ...choice, recommended: true } : choice))
}

interface Choice {
  readonly id: string
  readonly label: string
  readonly recommended?: boolean
}

function choicesOf(property: Property['items']): Choice[] | undefined {
  const named = property?.oneOf ?? property?.anyOf
  if (named) return named.map((each) => ({ id: each.const ?? '', label: each.title ?? each.const ?? '' }))
  return property?.enum?.map((id, i) => ({ id, label: property.enumNames?.[i] ?? id }))
}

function valueOf(answer: ChatInputAnswer | undefined, property: Property): unknown {
  const isChoice = choicesOf(property) ?? choicesOf(property.items)
  // Else what is usual stands in the form, for people to see.
  if (answer?.state !== 'submitted') return isChoice ? undefined : property.default
  const { value } = answer
  return value.kind === 'selected-many' ? [...value.value, ...(value.freeformValues ?? [])] : value.value
}

function isPage(url: unknown): url is string {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

function formIn(
  turn: { readonly responseParts: readonly { readonly kind: string }[] } | undefined,
  id: string,
): InputRequestPart | undefined {
  return turn?.responseParts.find(
    (part): part is InputRequestPart =>
      part.kind === 'inputRequest' && (part as InputRequestPart).request.id === id,
  )
}
