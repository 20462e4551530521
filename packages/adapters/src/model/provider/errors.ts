import { TurnFailed } from '@atrium/host/ports/agent'
import type { Vendor } from './provider.ts'

/** What went wrong with a model, and whether it may go right a moment later. */
export interface Problem {
  readonly failure: TurnFailed
  readonly again: boolean
  /** How long it asks to be left alone, in milliseconds. */
  readonly waitMs?: number
  /** There was too much for it to read. */
  readonly tooLong?: boolean
}

/** Words for people, made of what a library threw. Nothing of that itself goes further: it may hold what was sent. */
export function problemOf(error: unknown, vendor: Vendor, model: string, key: string | undefined): Problem {
  if (error instanceof TurnFailed) return { failure: error, again: false }
  const { statusCode: status, isRetryable, responseHeaders, responseBody, message } = shapeOf(error)
  const { displayName: name, resource } = vendor
  if (status === 401 || status === 403) return { failure: refusedKey(vendor), again: false }
  if (status === 404) return fatal(`${name} has no model ${JSON.stringify(model)}. Choose another one.`)
  if (isOverload(status, message)) {
    const words = `${name} has too much to do, or wants to be asked less often${status ? ` (${status})` : ''}. Resume this turn later.`
    const waitMs = waitOf(responseHeaders)
    const failure = new TurnFailed('overloaded', words, true)
    return { failure, again: true, ...(waitMs !== undefined && { waitMs }) }
  }
  if (status === undefined && isRetryable === true)
    return later(
      `${name} cannot be reached at ${resource}. See that it runs there, and resume this turn.`,
      true,
    )
  if (status === undefined || status < 400)
    return later(`What ${name} answered is no answer that can be understood. Resume this turn to ask again.`)
  const said = scrubbed(`${message} ${responseBody}`, key)
  if (status === 413 || tooLong.test(said))
    return {
      ...fatal(`This is too long for ${model}. Begin a new chat, or choose another model.`),
      tooLong: true,
    }
  return fatal(`${name} refused the request (${status}): ${scrubbed(message, key)}`)
}

export function lacksKey({ displayName, resource, keyVariable = '' }: Vendor): TurnFailed {
  const words = `There is no key for ${displayName}. Set ${keyVariable} where the host is started, or sign in to ${resource} in your client; then resume this turn.`
  return new TurnFailed('auth-required', words, true)
}

function refusedKey({ displayName, resource, keyVariable = '' }: Vendor): TurnFailed {
  const where = keyVariable === '' ? '' : ` Correct ${keyVariable} where the host is started, or`
  const words = `${displayName} refused the key.${where === '' ? ' S' : `${where} s`}ign in to ${resource} in your client; then resume this turn.`
  return new TurnFailed('auth-required', words, true)
}

/** What came before this, and was said, stays; the rest is asked for again. */
export function brokenOff({ displayName }: Vendor): TurnFailed {
  return new TurnFailed('model', `${displayName} broke off in the middle. Resume this turn to go on.`, true)
}

const tooLong = /context.{0,20}(?:length|window)|too long|too many (?:input )?tokens|maximum.{0,30}tokens/i

function isOverload(status: number | undefined, message: string): boolean {
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500
  return /overloaded|rate.?limit|server_error|too many requests/i.test(message)
}

function fatal(words: string): Problem {
  return { failure: new TurnFailed('model', words), again: false }
}

function later(words: string, again = false): Problem {
  return { failure: new TurnFailed('model', words, true), again }
}

interface Shape {
  readonly statusCode?: number
  readonly isRetryable?: boolean
  readonly responseHeaders?: { readonly [name: string]: string }
  readonly responseBody: string
  readonly message: string
}

/** Whatever was thrown, of that what has its shape. In a stream an error may be a bare object, or a text. */
function shapeOf(error: unknown): Shape {
  const {
    statusCode,
    isRetryable,
    responseHeaders,
    responseBody,
    message,
    error: inner,
  } = (typeof error === 'object' && error !== null ? error : { message: error }) as {
    readonly [key: string]: unknown
  }
  const said = typeof message === 'string' ? message : inner === undefined ? '' : JSON.stringify(inner)
  return {
    ...(typeof statusCode === 'number' && { statusCode }),
    ...(typeof isRetryable === 'boolean' && { isRetryable }),
    ...(typeof responseHeaders === 'object' &&
      responseHeaders !== null && { responseHeaders: responseHeaders as Shape['responseHeaders'] & {} }),
    responseBody: typeof responseBody === 'string' ? responseBody.slice(0, 4096) : '',
    message: said.slice(0, 4096),
  }
}

function waitOf(headers: Shape['responseHeaders']): number | undefined {
  const seconds = Number(headers?.['retry-after'] ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, longest) : undefined
}

const longest = 60_000

/** Without the key, and without what looks like one: vendors like to say which one they did not like. */
function scrubbed(text: string, key: string | undefined): string {
  const bare = key === undefined || key === '' ? text : text.replaceAll(key, '…')
  return bare.replaceAll(/\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{6,}/gi, '…').slice(0, 300)
}
