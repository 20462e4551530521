// A namespace import, because esbuild can drop its unused members. Of the exported object `z`, esbuild would keep every
// member, including the messages in sixty languages.
import * as z from 'zod'
import type { JsonObject } from './json.ts'
import { inItems, inMember, inShape, inValues } from './null-removal.ts'
import type { NullRemoval } from './null-removal.ts'

declare const carried: unique symbol
declare const absent: unique symbol
const inner = Symbol('inner')

// Every named shape, in two registries: one for this package, one for the JSON Schema export of the library.
const shapes = new Map<string, Schema<unknown>>()
const names = z.registry<{ id: string }>()

/**
 * The one definition of a shape: `T` for the compiler, and a hidden check for run time. This is the only file that
 * imports the schema library. Shapes are plain objects, so they compose by spread:
 *
 *     const turn = { id, message: Message, usage: optional(UsageInfo) }
 *     export interface Turn extends Infer<typeof turn> {}
 *     export const Turn = object<Turn>('Turn', turn)
 *
 * Because `Turn` is an interface, editors show the name `Turn` in a tooltip, not all fields of the shape.
 */
export interface Schema<out T> {
  readonly [inner]: Inner
  readonly [carried]?: T
}

export interface Optional<out T> extends Schema<T> {
  readonly [absent]: true
}

export type Shape = { readonly [key: string]: Schema<unknown> }

/** The shape of an object type: each of its keys has a schema. */
export type ShapeOf<T> = Shape & { readonly [K in keyof T]-?: Schema<T[K]> }

export type TypeOf<S> = S extends Schema<infer T> ? T : never

/** The object type of a shape. It has no index signature, so that a typo in a spread does not compile. */
export type Infer<S extends Shape> = Flat<
  { readonly [K in keyof S as S[K] extends Optional<unknown> ? never : K]: TypeOf<S[K]> } & {
    readonly [K in keyof S as S[K] extends Optional<unknown> ? K : never]?: TypeOf<S[K]>
  }
>

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/**
 * Checks a parsed JSON value. Returns the same value, with its unknown keys. The result is a copy only if a null had to be
 * removed: `null` in a key made by `optional` counts as absent, unless the schema of the key accepts `null`.
 */
export function decode<T>(schema: Schema<T>, value: unknown): Decoded<T> {
  const { zod, removeNulls } = schema[inner]
  // The library's own result is unused, because it lacks the unknown keys. The casts state what the check has proved.
  const first = zod.safeParse(value)
  if (first.success) return { ok: true, value: value as T }
  // Few senders write null for an absent key, so nulls are looked for only after a refusal.
  const cleaned = removeNulls?.(value) ?? value
  if (cleaned !== value && zod.safeParse(cleaned).success) return { ok: true, value: cleaned as T }
  return { ok: false, problem: describe(first.error.issues) }
}

export const string: Schema<string> = make(() => z.string())
export const boolean: Schema<boolean> = make(() => z.boolean())
/** Any finite number. */
export const number: Schema<number> = make(() => z.number())
/** A count, size or sequence number: a safe integer from 0. -0 is refused because JSON does not keep it. */
export const natural: Schema<number> = make(() =>
  z
    .int()
    .min(0)
    .refine((n) => !Object.is(n, -0), 'expected 0, received -0'),
)
/** A safe integer from 1. */
export const positive: Schema<number> = make(() => z.int().min(1))
/** A number from 0 to 1. */
export const fraction: Schema<number> = make(() => z.number().min(0).max(1))
/** Any string but the given values. It is the tag of unknown members in an open variant. */
export function except(...values: readonly string[]): Schema<string> {
  return make(() => {
    const other = z.string().refine((text) => !values.includes(text), { abort: true })
    return other.meta({ not: { enum: [...values] } })
  })
}
/** A 32-bit set of flags. */
export function bits(name: string): Schema<number> {
  return make(() => z.int().min(0).max(0xffff_ffff), undefined, name)
}
/**
 * Identifiers and URIs: strings without control characters, bidirectional characters and lone surrogates, which other
 * strings may have. `__proto__` is refused because an identifier may become an object key.
 */
export const id: Schema<string> = make(
  () =>
    z
      .string()
      .regex(
        /^(?!__proto__$)[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]*$/u,
        'not allowed in an identifier: control characters, lone surrogates, __proto__',
      ),
  undefined,
  'Identifier',
)
/** A point in time: ISO 8601 with a time zone, so that it means the same on every machine. */
export const instant: Schema<string> = make(() =>
  z
    .string()
    .regex(
      /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/,
      'expected an ISO 8601 time with a time zone',
    )
    .refine((text) => !Number.isNaN(Date.parse(text)) && isDay(text.slice(0, 10)), 'no such time'),
)
/** Any JSON value. `null` is a value here, also at an optional key. */
export const json: Schema<unknown> = make(() => z.unknown())
/** Any JSON object, with its nulls: `_meta`, config, structured content. */
export const jsonObject: Schema<JsonObject> = make(() => z.object({}), undefined, 'JsonObject')

export function is<const T extends string | boolean | null>(value: T): Schema<T> {
  return make(() => z.literal(value))
}

/** A closed enum, which refuses other values. */
export function oneOf<const T extends string>(name: string, values: readonly [T, ...T[]]): Schema<T> {
  return make(() => z.enum(values), undefined, name)
}

/** An open enum, which accepts the values of later versions. Editors still suggest the known values. */
export function openEnum<const T extends string>(
  name: string,
  values: readonly T[],
): Schema<T | (string & {})> {
  return make(() => z.string().meta({ examples: [...values] }), undefined, name)
}

export function array<T>(item: Schema<T>): Schema<readonly T[]> {
  const { removeNulls } = item[inner]
  return make(() => z.array(item[inner].zod), removeNulls && inItems(removeNulls))
}

export function record<T>(item: Schema<T>): Schema<{ readonly [key: string]: T }> {
  const { removeNulls } = item[inner]
  return make(() => z.record(z.string(), item[inner].zod), removeNulls && inValues(removeNulls))
}

/** A key that may be absent. `null` counts as absent. */
export function optional<T>(item: Schema<T>): Optional<T> {
  const { removeNulls } = item[inner]
  const orAbsent = (value: unknown) => (value === null ? undefined : (removeNulls?.(value) ?? value))
  return optionalWith(item, item === json ? undefined : orAbsent)
}

/** A key that may be absent but not `null`. It is for keys whose absence deletes data: there, a null could be an accident. */
export function optionalNotNull<T>(item: Schema<T>): Optional<T> {
  return optionalWith(item, item[inner].removeNulls)
}

function optionalWith<T>(item: Schema<T>, removeNulls: NullRemoval | undefined): Optional<T> {
  // The mark `absent` of `Optional` exists only as a type: hence the cast.
  return make(() => item[inner].zod.optional(), removeNulls) as Optional<T>
}

/** A schema for values that `a` or `b` accepts. `a` is tried first. */
export function either<A, B>(a: Schema<A>, b: Schema<B>, name?: string): Schema<A | B> {
  const removals = [a[inner].removeNulls, b[inner].removeNulls].filter((removal) => removal !== undefined)
  return make(
    () => z.union([a[inner].zod, b[inner].zod]),
    removals.length === 0
      ? undefined
      : (value) => removals.reduce((cleaned, removal) => removal(cleaned), value),
    name,
  )
}

/** A reference to a schema that is defined later, for a shape that contains itself. */
export function lazy<T>(get: () => Schema<T>): Schema<T> {
  return make(
    () => z.lazy(() => get()[inner].zod),
    (value) => get()[inner].removeNulls?.(value) ?? value,
  )
}

export function object<S extends Shape>(name: string, shape: S): Schema<Infer<S>>
export function object<T>(name: string, shape: ShapeOf<T>): Schema<T>
export function object(name: string, shape: Shape): Schema<unknown> {
  const removals = new Map<string, NullRemoval>()
  for (const [key, item] of Object.entries(shape))
    if (item[inner].removeNulls) removals.set(key, item[inner].removeNulls)
  const zods = () => Object.fromEntries(Object.entries(shape).map(([key, item]) => [key, item[inner].zod]))
  return make(() => z.object(zods()), inShape(removals), name)
}

/**
 * A discriminated union, with `key` as the tag. An open variant also accepts members with an unknown tag. Its type
 * lists only the known members, because a member `{ kind: string }` would disable narrowing. Code that reads an open
 * variant therefore needs a default branch. If `others` is a list, the variant is open but refuses the tags in the
 * list, which are known elsewhere.
 */
export function variant<M extends { readonly [tag: string]: Schema<unknown> }>(
  name: string,
  key: string,
  members: M,
  others: 'open' | 'closed' | readonly string[] = 'open',
): Schema<TypeOf<M[keyof M]>> {
  const byTag = new Map(Object.entries(members).map(([tag, member]) => [tag, member[inner]]))
  const build = () => {
    // The library requires a non-empty list of object schemas. `members` is such a list, because `object` made each of
    // its schemas: hence the cast.
    const zods = [...byTag.values()].map((member) => member.zod) as unknown as [z.ZodObject]
    const known = z.discriminatedUnion(key, zods)
    const otherTag = except(...byTag.keys(), ...(typeof others === 'string' ? [] : others))
    return others === 'closed' ? known : z.union([known, z.object({ [key]: otherTag[inner].zod })])
  }
  return make(
    build,
    inMember(key, (tag) => byTag.get(tag)?.removeNulls),
    name,
  )
}

/** Finds a shape by its name. */
export function shapeNamed(name: string): Schema<unknown> | undefined {
  return shapes.get(name)
}

/** Every named shape as one JSON Schema document, draft 2020-12. */
export function jsonSchema(uri: string): object {
  for (const shape of shapes.values()) void shape[inner].zod
  const { schemas } = z.toJSONSchema(names, { uri: (name) => `#/$defs/${name}`, io: 'input' })
  const sorted = Object.keys(schemas).toSorted()
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: uri,
    $defs: Object.fromEntries(sorted.map((name) => [name, definition(schemas[name] ?? {})])),
  }
}

/** Merges an intersection into one object type. `& {}` makes editors show the keys instead of `Flat<…>`. */
export type Flat<T> = { readonly [K in keyof T]: T[K] } & {}

export function isSchema(value: Schema<unknown> | Shape): value is Schema<unknown> {
  return inner in value
}

interface Inner {
  readonly zod: z.ZodType
  readonly removeNulls: NullRemoval | undefined
}

/** Creates a schema. `build` runs at first use: a program uses few of the shapes, and so starts faster. */
function make<T>(build: () => z.ZodType, removeNulls?: NullRemoval, name?: string): Schema<T> {
  let built: z.ZodType | undefined
  const made: Schema<T> = {
    [inner]: {
      removeNulls,
      get zod() {
        if (built) return built
        built = build()
        if (name !== undefined) names.add(built, { id: name })
        return built
      },
    },
  }
  if (name !== undefined) {
    if (shapes.has(name)) throw new Error(`the shape ${name} is defined twice`)
    shapes.set(name, made)
  }
  return made
}

/** Whether a date exists. `Date` turns February 30 into a day of March, so the result is compared with the input. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

/** The first problem with its path. In a union, the branch that matched deepest is most likely the intended one. */
function describe(issues: readonly z.core.$ZodIssue[], path: readonly PropertyKey[] = []): string {
  const [issue] = issues
  if (!issue) return 'invalid'
  const at = [...path, ...issue.path]
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const depth = (branch: readonly z.core.$ZodIssue[]) => branch[0]?.path.length ?? 0
    const best = issue.errors.reduce((a, b) => (depth(b) > depth(a) ? b : a))
    return describe(best, at)
  }
  const message = issue.message.replace(/^Invalid input: /, '')
  return at.length === 0 ? message : `${at.map(String).join('.')}: ${message}`
}

/** Removes the ids of a definition, because definitions in one document refer to each other by path. */
function definition(schema: JsonObject): JsonObject {
  const { $schema: _, $id: __, id: ___, ...rest } = schema
  return rest
}
