import { jsonObject, id, is, isSchema, object, optional } from './schema.ts'
import type { Infer, Schema, Shape } from './schema.ts'

/** The definition of one command: its params, its result, and the side that may send it. */
export interface CommandRow<out P, out R> {
  readonly from: 'client' | 'either'
  readonly params: (method: string) => Schema<P>
  readonly result: (method: string) => Schema<R>
}

export type CommandTable = { readonly [method: string]: CommandRow<unknown, unknown> }
export type ParamsIn<T extends CommandTable, M extends keyof T> =
  T[M] extends CommandRow<infer P, unknown> ? P : never
export type ResultIn<T extends CommandTable, M extends keyof T> =
  T[M] extends CommandRow<unknown, infer R> ? R : never

/** The definition of one notification: its params, and the side that may send it. */
export interface NotificationRow<out P> {
  readonly from: 'client' | 'host'
  readonly params: (method: string) => Schema<P>
}

export type NotificationTable = { readonly [method: string]: NotificationRow<unknown> }
export type NotificationParamsIn<T extends NotificationTable, M extends keyof T> =
  T[M] extends NotificationRow<infer P> ? P : never

const addressed = { channel: id, _meta: optional(jsonObject) }

/** Released clients omit `channel` in connection-level commands. An absent `channel` means the root channel. */
const connection = { channel: optional(id), _meta: optional(jsonObject) }

/** The definition of a result: `null`, the keys of an object, or a schema that already has a name. */
type Result = Shape | Schema<unknown> | null
type ResultOf<R> = R extends null ? null : R extends Schema<infer T> ? T : R extends Shape ? Infer<R> : never

/** Defines a command that is addressed to the channel in its params. */
export function command<P extends Shape, R extends Result>(
  params: P,
  result: R,
): CommandRow<Infer<typeof addressed & P>, ResultOf<R>> {
  const shape: typeof addressed & P = { ...addressed, ...params }
  return row('client', shape, result)
}

/** Defines a command that is addressed to the connection itself, whose channel is the root. */
export function rootCommand<P extends Shape, R extends Result>(
  params: P,
  result: R,
  from: 'client' | 'either' = 'client',
): CommandRow<Infer<typeof connection & P>, ResultOf<R>> {
  const shape: typeof connection & P = { ...connection, ...params }
  return row(from, shape, result)
}

export function notification<P extends Shape>(
  from: 'client' | 'host',
  params: P,
): NotificationRow<Infer<typeof addressed & P>> {
  const shape: typeof addressed & P = { ...addressed, ...params }
  return { from, params: (method) => object(`${nameOf(method)}Params`, shape) }
}

function row<P extends Shape, R extends Result>(
  from: 'client' | 'either',
  params: P,
  result: R,
): CommandRow<Infer<P>, ResultOf<R>> {
  return {
    from,
    params: (method) => object(`${nameOf(method)}Params`, params),
    // At run time `resultSchema` distinguishes the three forms of `Result` as `ResultOf` does in types: hence the cast.
    result: (method) => resultSchema(method, result) as Schema<ResultOf<R>>,
  }
}

function resultSchema(method: string, result: Result): Schema<unknown> {
  if (result === null) return is(null)
  return isSchema(result) ? result : object(`${nameOf(method)}Result`, result)
}

/** The schema name of a method: `root/sessionAdded` becomes `SessionAdded`, `auth/required` `AuthRequired`. */
function nameOf(method: string): string {
  const words = method.replace(/^root\//, '').split('/')
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
