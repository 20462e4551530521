import { AhpError } from '../errors.ts'

export type MessageId = string | number

/** What a frame says, told apart by the keys it has. */
export type Message =
  | { readonly kind: 'request'; readonly id: MessageId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'success'; readonly id: MessageId; readonly result: unknown }
  | { readonly kind: 'failure'; readonly id: MessageId | null; readonly error: AhpError }
  /** It names a question of ours and answers it with nothing that can be read. */
  | { readonly kind: 'unreadable'; readonly id: MessageId; readonly problem: string }
  /** To be told to whoever sent it; with its id only where it is a question. */
  | { readonly kind: 'invalid'; readonly id: MessageId | null; readonly problem: string }

/** By hand and not by schema: every frame comes through here, and each mistake deserves its own sentence. */
export function messageOf(value: unknown): Message {
  if (Array.isArray(value)) return invalid(null, 'batches are not supported: one message a frame')
  if (typeof value !== 'object' || value === null) return invalid(null, 'a message is a JSON object')
  const { jsonrpc, id: given, method, params, result, error } = value as Record<string, unknown>
  const known = isId(given) ? given : null
  if (method === undefined) return answerOf(jsonrpc, known, result, error)
  if (jsonrpc !== '2.0') return invalid(known, 'jsonrpc is not "2.0"')
  if (typeof method !== 'string') return invalid(known, 'method is not a string')
  if (given === undefined) return { kind: 'notification', method, params }
  if (known === null) return invalid(null, 'id is neither a string nor a finite number')
  return { kind: 'request', id: known, method, params }
}

/** An answer is never answered: its id is one of ours, and the other side has questions with the same numbers. */
function answerOf(jsonrpc: unknown, id: MessageId | null, result: unknown, error: unknown): Message {
  const { code, message, data } = (error ?? {}) as Record<string, unknown>
  const failed = error !== undefined && error !== null
  if (jsonrpc === '2.0' && failed && typeof code === 'number' && typeof message === 'string')
    return { kind: 'failure', id, error: new AhpError(code, message, data) }
  if (id === null) return invalid(null, 'neither a request, a notification nor an answer')
  if (jsonrpc === '2.0' && !failed && result !== undefined) return { kind: 'success', id, result }
  return { kind: 'unreadable', id, problem: 'an answer that cannot be read' }
}

function isId(value: unknown): value is MessageId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))
}

function invalid(messageId: MessageId | null, problem: string): Message {
  return { kind: 'invalid', id: messageId, problem }
}
