import { SignInRequired, TurnFailed } from '@atrium/host/ports/agent'
import { errorFields, redirectCode } from './error-fields.ts'
import type { ErrorFields } from './error-fields.ts'
import { keyResource } from './resources.ts'
import type { ModelProvider } from './provider.ts'

/** The failure of a request to a model. */
export interface ModelProblem {
  readonly failure: TurnFailed
  /** Present if the same request may succeed when it is repeated soon. */
  readonly retry?: Retry
  /** Whether the messages exceed the context window. */
  readonly tooLong?: boolean
}

/** Tells that a failed request is worth repeating, and when. */
export interface Retry {
  /** Why the request failed, in a few words for users. */
  readonly reason: string
  /** How long the provider asks to wait before the request is repeated, in milliseconds. */
  readonly afterMs?: number
}

/**
 * The longest delay after which a request is repeated automatically. A provider may ask for more, but nobody waits
 * longer for a turn.
 */
const maxRetryAfterMs = 60_000

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
  if (error instanceof TurnFailed) return { failure: error }
  const fields = errorFields(error, key)
  const { status, isNetwork, details, message } = fields
  const { displayName: name } = provider
  if (isNetwork) return networkProblem(provider, fields)
  if (status === undefined && unsendable.test(details))
    return { failure: wrongKey(provider, `The key for ${name} has characters that cannot be sent.`) }
  if (status === 401) return { failure: wrongKey(provider, `${name} refused the key.`) }
  if (status === 403)
    return {
      failure: wrongKey(provider, `${name} does not let this key use ${JSON.stringify(model)} (403).`),
    }
  if (status === 404) return permanent(`${name} has no model ${JSON.stringify(model)}. Choose another one.`)
  if (status === 402 || noCredit.test(details))
    return resumable(
      'quota',
      `${name} has no credit left for this key${withStatus(status)}: ${sentence(message)} Resume this turn when there is.`,
    )
  if (isBusy(status, details))
    return repeatable('overloaded', `${name} is busy${withStatus(status)}`, '', fields)
  if (isFailure(status, details))
    return repeatable('provider', `${name} failed${withStatus(status)}`, message, fields)
  if (status === undefined || status < 400)
    return resumable('model', `The response of ${name} cannot be parsed. Resume this turn to ask again.`)
  if (status === 413 || tooLong.test(details))
    return {
      ...permanent(`The conversation is too long for ${model}. Start a new chat, or choose another model.`),
      tooLong: true,
    }
  return permanent(`${name} refused the request (${status}): ${sentence(message)}`)
}

export function missingKey(provider: ModelProvider): SignInRequired {
  const { displayName, resource, keyVariable = '' } = provider
  const text = `There is no key for ${displayName}. Set ${keyVariable} where the host is started, or sign in to ${resource} in your client; then resume this turn.`
  return new SignInRequired(text, [keyResource(provider)])
}

/** Returns the failure of a request whose key cannot be used. `why` is a sentence. */
function wrongKey(provider: ModelProvider, why: string): TurnFailed {
  const { resource, keyVariable } = provider
  const where = keyVariable === undefined ? 'S' : `Correct ${keyVariable} where the host is started, or s`
  const text = `${why} ${where}ign in to ${resource} in your client; then resume this turn.`
  return keyVariable === undefined
    ? new TurnFailed('auth-required', text, true)
    : new SignInRequired(text, [keyResource(provider)], 'expired')
}

/**
 * Returns the error of a turn whose model response broke off. The chat keeps the text that arrived. When the turn is
 * resumed, the agent asks the model to continue that text.
 */
export function endedEarly({ displayName }: ModelProvider): TurnFailed {
  const text = `The response of ${displayName} ended early. Resume this turn to continue.`
  return new TurnFailed('model', text, true)
}

/** Returns the problem of a response that ended before it had said anything. */
export function emptyResponse(provider: ModelProvider): ModelProblem {
  return { failure: endedEarly(provider), retry: { reason: `${provider.displayName} sent no answer` } }
}

/** Returns the failure of a request that was repeated in vain. */
export function failedAfter(failure: TurnFailed, attempts: number): TurnFailed {
  if (attempts <= 1) return failure
  const { errorType, message, resumable: isResumable } = failure
  return new TurnFailed(errorType, `${message} The request was made ${attempts} times.`, isResumable)
}

function networkProblem({ displayName: name, resource }: ModelProvider, fields: ErrorFields): ModelProblem {
  const { systemCode, isBroken } = fields
  if (systemCode === redirectCode)
    return permanent(
      `${name} answers at ${resource} with a redirect. It is not followed, because it could lead the key elsewhere. Correct the address.`,
    )
  const code = systemCode === undefined ? '' : ` (${systemCode})`
  if (/CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|TLS|SSL/.test(systemCode ?? ''))
    return resumable(
      'network',
      `${name} has no valid certificate at ${resource}${code}. Correct that, then resume this turn.`,
    )
  if (isBroken) {
    const reason = `The connection to ${name} broke off`
    return { ...resumable('network', `${reason}${code}. Resume this turn to go on.`), retry: { reason } }
  }
  const text = `${name} cannot be reached at ${resource}${code}. Check that it runs there, then resume this turn.`
  return { ...resumable('network', text), retry: { reason: `${name} cannot be reached${code}` } }
}

const tooLong = /context.{0,20}(?:length|window)|too long|too many (?:input )?tokens|maximum.{0,30}tokens/i
/**
 * Matches the errors that `fetch` throws if a header has characters that HTTP does not allow. Such an error means that
 * the API key is wrong, because no other header comes from the user.
 */
const unsendable = /ByteString|invalid header value/i
/**
 * Matches the errors of a provider that is not paid. It answers 429 or 400, as if the rate or the form of the request
 * were wrong.
 */
const noCredit = /insufficient_quota|credit balance|exceeded your current quota/i

function isBusy(status: number | undefined, details: string): boolean {
  if (status !== undefined) return status === 429 || status === 529
  return /overloaded|rate.?limit|too many requests/i.test(details)
}

/** Whether the provider itself failed, or gave up a request that may succeed another time (408, 409). */
function isFailure(status: number | undefined, details: string): boolean {
  if (status !== undefined) return status === 408 || status === 409 || status >= 500
  return /server_error|api_error|internal|timeout_error|unavailable/i.test(details)
}

/**
 * Returns a problem that may be over soon. It has `retry`, unless the provider asks for a long delay, or its status
 * (501, 505) says that it does not support such a request.
 */
function repeatable(
  errorType: string,
  reason: string,
  message: string,
  { status, retryAfterMs: afterMs }: ErrorFields,
): ModelProblem {
  const said = message === '' ? `${reason}.` : `${reason}: ${sentence(message)}`
  if (afterMs !== undefined && afterMs > maxRetryAfterMs)
    return resumable(
      errorType,
      `${said} It asks to wait for ${Math.ceil(afterMs / 1000)} s. Resume this turn after that.`,
    )
  const problem = resumable(errorType, `${said} Resume this turn later.`)
  if (status === 501 || status === 505) return problem
  return { ...problem, retry: { reason, ...(afterMs !== undefined && { afterMs }) } }
}

function withStatus(status: number | undefined): string {
  return status === undefined ? '' : ` (${status})`
}

/** Returns a text of a provider as a sentence, with a full stop. */
function sentence(message: string): string {
  const text = message.trim()
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`
}

function permanent(text: string): ModelProblem {
  return { failure: new TurnFailed('model', text.trim()) }
}

function resumable(errorType: string, text: string): ModelProblem {
  return { failure: new TurnFailed(errorType, text, true) }
}
