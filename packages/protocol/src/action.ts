import { either, is, object } from './schema.ts'
import type { Flat, Infer, Schema, Shape } from './schema.ts'

/**
 * How much an action is worth keeping.
 * strict: stored before it is told. relaxed: stored, but told without waiting (streamed text).
 * passing: told and never stored (typed input, floods, one client's paging).
 */
export type Class = 'strict' | 'relaxed' | 'passing'

/** One row of a channel's action table: the payload, who may say it, and its class. */
export interface ActionRow<out P> {
  readonly by: 'host' | 'client'
  readonly class: Class
  readonly schema: (type: string) => Schema<{ readonly type: string } & P>
}

export type ActionTable = { readonly [type: string]: ActionRow<unknown> }

/** Said by the host alone. */
export function host<S extends Shape>(payload: S, kept: Class = 'strict'): ActionRow<Infer<S>> {
  return { by: 'host', class: kept, schema: (type) => shapeOf(type, payload) }
}

/** A client may dispatch it. */
export function client<S extends Shape>(payload: S, kept: Class = 'strict'): ActionRow<Infer<S>> {
  return { by: 'client', class: kept, schema: (type) => shapeOf(type, payload) }
}

/** A client may dispatch it, in one of two forms. */
export function clientEither<A extends Shape, B extends Shape>(a: A, b: B): ActionRow<Infer<A> | Infer<B>> {
  const schema = (type: string) => either(shapeOf(type, a, 'Approved'), shapeOf(type, b, 'Denied'))
  return { by: 'client', class: 'strict', schema }
}

export type ActionOf<T extends ActionTable, K extends keyof T & string> =
  T[K] extends ActionRow<infer P> ? Flat<{ readonly type: K } & P> : never

/** The union of a table's actions. */
export type ActionsOf<T extends ActionTable> = { [K in keyof T & string]: ActionOf<T, K> }[keyof T & string]

/** `chat/toolCallReady` is called ChatToolCallReadyAction where a name is needed. */
export function shapeName(type: string): string {
  const words = type.split('/').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Action`
}

function shapeOf<S extends Shape>(
  type: string,
  payload: S,
  form = '',
): Schema<{ readonly type: string } & Infer<S>> {
  const shape = { type: is(type), ...payload }
  return object(`${shapeName(type)}${form}`, shape) as Schema<{ readonly type: string } & Infer<S>>
}
