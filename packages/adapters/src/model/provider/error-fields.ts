import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'

/** What is known of an error of the model library. */
export interface ErrorFields {
  /** The HTTP status. A stream whose response had the status 200 may report another status later. */
  readonly status?: number
  /** Whether the library takes the error for one of the network. */
  readonly isNetwork: boolean
  /** Whether the connection broke after it had been made. */
  readonly isBroken: boolean
  /** The code of the system or of the TLS library, for example `ECONNREFUSED`. */
  readonly systemCode?: string
  /** How long the provider asks to wait before the request is repeated. */
  readonly retryAfterMs?: number
  /** The provider's own sentence. */
  readonly message: string
  /** Everything in which the provider may have named the kind of the error: type, code, message and body. */
  readonly details: string
}

/**
 * Reads the known fields of a thrown value. The value may also be a plain object or a text, because streams report errors in
 * these forms. The result contains neither the key nor anything that looks like one.
 */
export function errorFields(error: unknown, key: string | undefined): ErrorFields {
  const fields: JsonObject = isJsonObject(error) ? error : { message: error }
  const { statusCode, isRetryable, responseHeaders, responseBody, message, type, code, error: inner } = fields
  const text = typeof message === 'string' ? message : inner === undefined ? '' : JSON.stringify(inner)
  const body = typeof responseBody === 'string' ? responseBody : ''
  const status = [statusCode, code, Number(code)].find(isStatus)
  const systemCode = systemCodeOf(error)
  const retryAfterMs = isJsonObject(responseHeaders) ? retryAfter(responseHeaders) : undefined
  return {
    ...(status !== undefined && { status }),
    ...(systemCode !== undefined && { systemCode }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    isNetwork:
      status === undefined &&
      (isRetryable === true || isOfNetwork(systemCode) || isBroken(error, systemCode)),
    isBroken: isBroken(error, systemCode),
    message: redacted(text.slice(0, maxRead), key),
    details: redacted(`${wordOf(type)} ${wordOf(code)} ${text} ${body}`.slice(0, maxRead), key, maxRead),
  }
}

/** The maximum number of characters of an error that are read. */
const maxRead = 4096

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 300 && value < 600
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isOfNetwork(systemCode = ''): boolean {
  return /^(?:E[A-Z]{4,}$|UND_ERR_)/.test(systemCode)
}

/** Whether a connection broke while the response was read. The library passes this error of `fetch` on as it is. */
function isBroken(error: unknown, systemCode = ''): boolean {
  const isTerminated = error instanceof TypeError && error.message === 'terminated'
  return isTerminated || /^(?:ECONNRESET|EPIPE|UND_ERR_(?:SOCKET|BODY_TIMEOUT))$/.test(systemCode)
}

/** Returns the code of the innermost cause that has one. A redirect that was not followed has none, and gets one here. */
function systemCodeOf(error: unknown): string | undefined {
  let found: string | undefined
  // An error may be its own cause. Real chains have two or three errors.
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string' && at.code.length <= 64) found = at.code
    if (at.message === 'unexpected redirect') return redirectCode
  }
  return found
}

export const redirectCode = 'REDIRECT'

/** Reads the delay from the headers of a response. It is a number, or a date that counts from the date of the response. */
function retryAfter(headers: JsonObject): number | undefined {
  const [ms, after, date] = ['retry-after-ms', 'retry-after', 'date'].map((name) => wordOf(headers[name]))
  const delays = [numberOf(ms), numberOf(after) * 1000, Date.parse(after ?? '') - Date.parse(date ?? '')]
  return delays.find((delay) => Number.isFinite(delay) && delay >= 0)
}

function numberOf(text: string | undefined): number {
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(text ?? '') ? Number(text) : Number.NaN
}

/**
 * Removes the API key from a text, and everything that looks like a key. Providers repeat a refused key in their error
 * messages.
 */
function redacted(text: string, key: string | undefined, maxLength = 300): string {
  const withoutKey = key === undefined || key === '' ? text : text.replaceAll(key, '…')
  return withoutKey.replaceAll(/\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{6,}/gi, '…').slice(0, maxLength)
}
