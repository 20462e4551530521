import { either, is, object } from './schema.ts'
import type { Flat, Infer, Schema, Shape } from './schema.ts'

/**
 * How an action is stored and delivered.
 * strict: stored first, then delivered. relaxed: delivered at once and stored soon after (streamed text).
 * ephemeral: delivered and never stored (typed input, bulk output, one client's paging).
 */
export type Class = 'strict' | 'relaxed' | 'ephemeral'

/** The definition of one action type: its payload, the side that may send it, and its class. */
export interface ActionRow<out P> {
  readonly by: 'host' | 'client'
  readonly class: Class
  readonly schema: (type: string) => Schema<{ readonly type: string } & P>
}

export type ActionTable = { readonly [type: string]: ActionRow<unknown> }

/** Defines an action that only the host may send. */
export function host<S extends Shape>(payload: S, actionClass: Class = 'strict'): ActionRow<Infer<S>> {
  return { by: 'host', class: actionClass, schema: (type) => shapeOf(type, payload) }
}

/** The definition of an action type that clients may dispatch. */
type ClientRow<P> = ActionRow<P> & { readonly by: 'client' }

/** Defines an action that clients may dispatch. */
export function client<S extends Shape>(payload: S, actionClass: Class = 'strict'): ClientRow<Infer<S>> {
  return { by: 'client', class: actionClass, schema: (type) => shapeOf(type, payload) }
}

/** Defines an action that clients may dispatch with one of two payloads: approved (`a`) or denied (`b`). */
export function clientEither<A extends Shape, B extends Shape>(a: A, b: B): ClientRow<Infer<A> | Infer<B>> {
  const schema = (type: string) => either(shapeOf(type, a, 'Approved'), shapeOf(type, b, 'Denied'))
  return { by: 'client', class: 'strict', schema }
}

export type ActionOf<T extends ActionTable, K extends keyof T & string> =
  T[K] extends ActionRow<infer P> ? Flat<{ readonly type: K } & P> : never

/** The union of all actions in a table. */
export type ActionsOf<T extends ActionTable> = { [K in keyof T & string]: ActionOf<T, K> }[keyof T & string]

/** The union of the actions in a table that clients may dispatch. */
export type DispatchableOf<T extends ActionTable> = {
  [K in keyof T & string]: T[K] extends { readonly by: 'client' } ? ActionOf<T, K> : never
}[keyof T & string]

/** The schema name of an action type: `chat/toolCallReady` becomes `ChatToolCallReadyAction`. */
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
  // `S` is a type parameter here, so the compiler cannot evaluate `Infer` of the spread: hence the cast.
  return object(`${shapeName(type)}${form}`, shape) as Schema<{ readonly type: string } & Infer<S>>
}
