import { TurnFailed } from '@atrium/host/ports/agent'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import type { ModelProvider } from './provider.ts'

/** The failure of a request to a model. */
export interface ModelProblem {
  readonly failure: TurnFailed
  /** Whether the same request may succeed if it is repeated soon. */
  readonly retry: boolean
  /** The time to wait before the next request, from the provider's `retry-after` header. */
  readonly retryAfterMs?: number
  /** Whether the messages exceed the context window. */
  readonly tooLong?: boolean
}

/**
 * Converts an error of the model library to a message for users. The original error is not passed on, because it may contain
 * the request.
 */
export function modelProblem(
  error: unknown,
  provider: ModelProvider,
  model: string,
  key: string | undefined,
): ModelProblem {
  if (error instanceof TurnFailed) return { failure: error, retry: false }
  const { statusCode: status, isRetryable, responseHeaders, responseBody, message } = errorFields(error)
  const { displayName: name, resource } = provider
  if (status === 401 || status === 403) return { failure: refusedKey(provider), retry: false }
  if (status === 404) return permanent(`${name} has no model ${JSON.stringify(model)}. Choose another one.`)
  if (isOverload(status, message)) {
    const text = `${name} is overloaded or limits the rate of requests${status ? ` (${status})` : ''}. Resume this turn later.`
    const retryAfterMs = retryAfter(responseHeaders)
    const failure = new TurnFailed('overloaded', text, true)
    return { failure, retry: true, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }
  if (status === undefined && isRetryable === true)
    return resumable(
      `${name} cannot be reached at ${resource}. Check that it runs there, then resume this turn.`,
      true,
    )
  if (status === undefined || status < 400)
    return resumable(`The response of ${name} cannot be parsed. Resume this turn to ask again.`)
  const details = redacted(`${message} ${responseBody}`, key)
  if (status === 413 || tooLong.test(details))
    return {
      ...permanent(`The conversation is too long for ${model}. Start a new chat, or choose another model.`),
      tooLong: true,
    }
  return permanent(`${name} refused the request (${status}): ${redacted(message, key)}`)
}

export function missingKey({ displayName, resource, keyVariable = '' }: ModelProvider): TurnFailed {
  const text = `There is no key for ${displayName}. Set ${keyVariable} where the host is started, or sign in to ${resource} in your client; then resume this turn.`
  return new TurnFailed('auth-required', text, true)
}

function refusedKey({ displayName, resource, keyVariable = '' }: ModelProvider): TurnFailed {
  const where = keyVariable === '' ? '' : ` Correct ${keyVariable} where the host is started, or`
  const text = `${displayName} refused the key.${where === '' ? ' S' : `${where} s`}ign in to ${resource} in your client; then resume this turn.`
  return new TurnFailed('auth-required', text, true)
}

/**
 * Returns the error of a turn whose model response broke off. The chat keeps the text that arrived. When the turn is
 * resumed, the agent asks the model to continue that text.
 */
export function endedEarly({ displayName }: ModelProvider): TurnFailed {
  return new TurnFailed(
    'model',
    `The response of ${displayName} ended early. Resume this turn to continue.`,
    true,
  )
}

const tooLong = /context.{0,20}(?:length|window)|too long|too many (?:input )?tokens|maximum.{0,30}tokens/i

function isOverload(status: number | undefined, message: string): boolean {
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500
  return /overloaded|rate.?limit|server_error|too many requests/i.test(message)
}

function permanent(text: string): ModelProblem {
  return { failure: new TurnFailed('model', text), retry: false }
}

function resumable(text: string, retry = false): ModelProblem {
  return { failure: new TurnFailed('model', text, true), retry }
}

interface ErrorFields {
  readonly statusCode?: number
  readonly isRetryable?: boolean
  readonly responseHeaders?: JsonObject
  readonly responseBody: string
  readonly message: string
}

/**
 * Reads the known fields of a thrown value. The value may also be a plain object or a text, because streams report errors in
 * these forms.
 */
function errorFields(error: unknown): ErrorFields {
  const {
    statusCode,
    isRetryable,
    responseHeaders,
    responseBody,
    message,
    error: inner,
  }: JsonObject = isJsonObject(error) ? error : { message: error }
  const text = typeof message === 'string' ? message : inner === undefined ? '' : JSON.stringify(inner)
  return {
    ...(typeof statusCode === 'number' && { statusCode }),
    ...(typeof isRetryable === 'boolean' && { isRetryable }),
    ...(isJsonObject(responseHeaders) && { responseHeaders }),
    responseBody: typeof responseBody === 'string' ? responseBody.slice(0, 4096) : '',
    message: text.slice(0, 4096),
  }
}

function retryAfter(headers: ErrorFields['responseHeaders']): number | undefined {
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, maxRetryAfterMs) : undefined
}

const maxRetryAfterMs = 60_000

/**
 * Removes the API key from a text, and everything that looks like a key. Providers repeat a refused key in their error
 * messages.
 */
function redacted(text: string, key: string | undefined): string {
  const withoutKey = key === undefined || key === '' ? text : text.replaceAll(key, '…')
  return withoutKey.replaceAll(/\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{6,}/gi, '…').slice(0, 300)
}
