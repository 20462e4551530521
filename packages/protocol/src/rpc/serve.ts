import { commands, notifications } from '../commands.ts'
import type { Method, NotificationMethod, NotificationParams, Params, Result } from '../commands.ts'
import { AhpError } from '../errors.ts'
import { functionMap } from '../function-map.ts'
import { decode } from '../schema.ts'
import type { Schema } from '../schema.ts'
import type { Receiver } from './peer.ts'

/** Functions that answer requests, by method. A method without a function is unknown to the other side. */
export type Answers = { readonly [M in Method]?: (params: Params<M>) => Result<M> | Promise<Result<M>> }
export type Listeners = { readonly [M in NotificationMethod]?: (params: NotificationParams<M>) => void }

type Handler = (params: unknown) => unknown

/** A receiver with one table for requests and one for notifications. It checks params before it calls a function. */
export function serve(answers: Answers, listeners: Listeners = {}): Receiver {
  const byRequest = functionMap<Handler>(answers)
  const byNotification = functionMap<Handler>(listeners)
  return {
    request: (method, params) => call(method, byRequest.get(method), commands.get(method)?.params, params),
    notification: (method, params) =>
      void call(method, byNotification.get(method), notifications.get(method)?.params, params),
  }
}

function call(
  method: string,
  handler: Handler | undefined,
  schema: Schema<unknown> | undefined,
  params: unknown,
) {
  if (!handler || !schema) throw AhpError.methodNotFound(method)
  const decoded = decode(schema, params ?? {})
  if (!decoded.ok) throw AhpError.invalidParams(`${method}: ${decoded.problem}`)
  return handler(decoded.value)
}
