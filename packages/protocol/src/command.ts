import { bag, id, is, isSchema, object, optional } from './schema.ts'
import type { Infer, Schema, Shape } from './schema.ts'

/** One row of a command table: what is asked, what is answered, and who may ask. */
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

/** One row of a notification table: what is said, and who may say it. */
export interface NoteRow<out P> {
  readonly from: 'client' | 'host'
  readonly params: (method: string) => Schema<P>
}

export type NoteTable = { readonly [method: string]: NoteRow<unknown> }
export type NoteIn<T extends NoteTable, M extends keyof T> = T[M] extends NoteRow<infer P> ? P : never

const named = { channel: id }
const addressed = { ...named, _meta: optional(bag) }

/** Clients in the field leave `channel` out here: then it is the root. */
const connection = { channel: optional(id), _meta: optional(bag) }

/** A result is nothing, a shape, or a schema that has a name already. */
type Result = Shape | Schema<unknown> | null
type Answer<R> = R extends null ? null : R extends Schema<infer T> ? T : R extends Shape ? Infer<R> : never

/** A command to the channel it names. */
export function ask<P extends Shape, R extends Result>(
  params: P,
  result: R,
): CommandRow<Infer<typeof addressed & P>, Answer<R>> {
  return row('client', { ...addressed, ...params } as typeof addressed & P, result)
}

/** A command to the connection itself: its channel is the root. */
export function askRoot<P extends Shape, R extends Result>(
  params: P,
  result: R,
  from: 'client' | 'either' = 'client',
): CommandRow<Infer<typeof connection & P>, Answer<R>> {
  return row(from, { ...connection, ...params } as typeof connection & P, result)
}

export function note<P extends Shape>(
  from: 'client' | 'host',
  params: P,
): NoteRow<Infer<typeof addressed & P>> {
  const shape = { ...addressed, ...params } as typeof addressed & P
  return { from, params: (method) => object(`${wordsOf(method)}Params`, shape) }
}

function row<P extends Shape, R extends Result>(
  from: 'client' | 'either',
  params: P,
  result: R,
): CommandRow<Infer<P>, Answer<R>> {
  return {
    from,
    params: (method) => object(`${wordsOf(method)}Params`, params),
    result: (method) => answerOf(method, result) as Schema<Answer<R>>,
  }
}

function answerOf(method: string, result: Result): Schema<unknown> {
  if (result === null) return is(null)
  return isSchema(result) ? result : object(`${wordsOf(method)}Result`, result)
}

/** `root/sessionAdded` is called SessionAdded, `auth/required` AuthRequired. */
function wordsOf(method: string): string {
  const words = method.replace(/^root\//, '').split('/')
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
