import { AhpError } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { JsonObject } from '../json.ts'

export type MessageId = string | number

/** A JSON-RPC message. The keys of the frame decide its kind. */
export type Message =
  | { readonly kind: 'request'; readonly id: MessageId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'success'; readonly id: MessageId; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: MessageId | null; readonly error: AhpError }
  /** A response with the id of a request, but without a valid result or error. */
  | { readonly kind: 'unreadable'; readonly id: MessageId; readonly problem: string }
  /** A message to be answered with an error. `id` is set only if the message is a request. */
  | { readonly kind: 'invalid'; readonly id: MessageId | null; readonly problem: string }

/** Classifies a parsed frame. It uses no schema, because it runs for every frame and must name each fault exactly. */
export function messageOf(value: unknown): Message {
  if (Array.isArray(value)) return invalid(null, 'batches are not supported: send one message per frame')
  if (!isJsonObject(value)) return invalid(null, 'a message must be a JSON object')
  const { jsonrpc, id: given, method, params } = value
  const id = isId(given) ? given : null
  if (method === undefined) return responseOf(id, value)
  if (jsonrpc !== '2.0') return invalid(id, 'jsonrpc is not "2.0"')
  if (typeof method !== 'string') return invalid(id, 'method is not a string')
  if (given === undefined) return { kind: 'notification', method, params }
  if (id === null) return invalid(null, 'id is neither a string nor a number that JSON can keep')
  return { kind: 'request', id, method, params }
}

/**
 * Classifies a message without a method. A response with an id is never `invalid`, because the error sent for it would
 * carry the same id and could be taken for the response to a request of the other side.
 */
function responseOf(id: MessageId | null, { jsonrpc, result, error }: JsonObject): Message {
  const { code, message, data } = isJsonObject(error) ? error : {}
  const failed = error !== undefined && error !== null
  if (jsonrpc === '2.0' && failed && typeof code === 'number' && typeof message === 'string')
    return { kind: 'failure', id, error: new AhpError(code, message, data) }
  if (id === null) return invalid(null, 'neither a request, a notification nor a response')
  if (jsonrpc === '2.0' && !failed && result !== undefined) return { kind: 'success', id, result }
  return { kind: 'unreadable', id, problem: 'the response has neither a result nor a valid error' }
}

/** Whether a value is an id. -0 is not an id, because its response would have the id 0. */
function isId(value: unknown): value is MessageId {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  return typeof value === 'string'
}

function invalid(messageId: MessageId | null, problem: string): Message {
  return { kind: 'invalid', id: messageId, problem }
}
