import { commands, notes } from '../commands.ts'
import type { Method, NoteMethod, NoteParams, Params, Result } from '../commands.ts'
import { AhpError } from '../errors.ts'
import { decode } from '../schema.ts'
import type { Schema } from '../schema.ts'
import type { Receiver } from './peer.ts'

/** Answers by method, checked by the compiler; what is not in the table is an unknown method. */
export type Answers = { readonly [M in Method]?: (params: Params<M>) => Result<M> | Promise<Result<M>> }
export type Listeners = { readonly [M in NoteMethod]?: (params: NoteParams<M>) => void }

type Handler = (params: unknown) => unknown

/** A receiver that looks methods up in two tables and checks their params before anyone sees them. */
export function serve(answers: Answers, listeners: Listeners = {}): Receiver {
  const asked = new Map(Object.entries(answers) as [string, Handler][])
  const told = new Map(Object.entries(listeners) as [string, Handler][])
  return {
    request: (method, params) => call(method, asked.get(method), commands.get(method)?.params, params),
    notification: (method, params) => void call(method, told.get(method), notes.get(method)?.params, params),
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
