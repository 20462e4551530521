import { z } from 'zod'

declare const carried: unique symbol
declare const absent: unique symbol
const inner = Symbol('inner')

// Every shape that has a name, twice: for us and for the schema library's export.
const shapes = new Map<string, Schema<unknown>>()
const names = z.registry<{ id: string }>()

/**
 * One definition per shape: `T` is what the compiler sees, the hidden rest is what is checked at run time.
 * This is the only file that knows the schema library. Shapes are plain objects, so they compose by spread:
 *
 *     const turn = { id, message: Message, usage: optional(UsageInfo) }
 *     export interface Turn extends Infer<typeof turn> {}
 *     export const Turn = object<Turn>('Turn', turn)
 *
 * The interface gives editors a name to show, also where the shape is nested.
 */
export interface Schema<out T> {
  readonly [inner]: Inner
  readonly [carried]?: T
}

export interface Optional<out T> extends Schema<T> {
  readonly [absent]: true
}

export type Shape = { readonly [key: string]: Schema<unknown> }

/** The shapes that infer to a type: each of its keys has a schema. */
export type ShapeOf<T> = Shape & { readonly [K in keyof T]-?: Schema<T[K]> }

export type TypeOf<S> = S extends Schema<infer T> ? T : never

/** The object type of a shape. No index signature, so that a typo in a spread does not compile. */
export type Infer<S extends Shape> = Flat<
  { readonly [K in keyof S as S[K] extends Optional<unknown> ? never : K]: TypeOf<S[K]> } & {
    readonly [K in keyof S as S[K] extends Optional<unknown> ? K : never]?: TypeOf<S[K]>
  }
>

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/**
 * Checks a parsed JSON value. What comes back is the value that went in, unknown keys and all; only where
 * `null` stands at a declared optional key is it a copy without that key.
 */
export function decode<T>(schema: Schema<T>, value: unknown): Decoded<T> {
  const { zod, withoutNulls } = schema[inner]
  // What the library makes of the value, without the keys it does not know, is thrown away: it only judges.
  const first = zod.safeParse(value)
  if (first.success) return { ok: true, value: value as T }
  // Emitters should not write null for absent, so looking for it only after a refusal costs honest messages nothing.
  const cleaned = withoutNulls?.(value) ?? value
  if (cleaned !== value && zod.safeParse(cleaned).success) return { ok: true, value: cleaned as T }
  return { ok: false, problem: describe(first.error.issues) }
}

export const string: Schema<string> = make(() => z.string())
export const boolean: Schema<boolean> = make(() => z.boolean())
/** Any finite number. */
export const number: Schema<number> = make(() => z.number())
/** A count, size or sequence number: a safe integer from 0, and not -0, which would not survive JSON. */
export const natural: Schema<number> = make(() =>
  z
    .int()
    .min(0)
    .refine((n) => !Object.is(n, -0), 'expected 0, received -0'),
)
/** A safe integer from 1. */
export const positive: Schema<number> = make(() => z.int().min(1))
/** From 0 to 1. */
export const share: Schema<number> = make(() => z.number().min(0).max(1))
/** Any string but these: the tag of something that is known by another name. */
export function except(...values: readonly string[]): Schema<string> {
  return make(() => {
    const other = z.string().refine((text) => !values.includes(text), { abort: true })
    return other.meta({ not: { enum: [...values] } })
  })
}
/** A set of 32 bits. */
export function bits(name: string): Schema<number> {
  return make(() => z.int().min(0).max(0xffff_ffff), undefined, name)
}
/**
 * Identifiers and URIs: no control or bidirectional characters, no lone surrogates (content keeps them), and not
 * `__proto__`, because an identifier may become a key.
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
/** A point in time that means the same on every machine: ISO 8601 with a zone. */
export const instant: Schema<string> = make(() =>
  z
    .string()
    .regex(
      /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/,
      'expected an ISO 8601 time with a zone',
    )
    .refine((text) => !Number.isNaN(Date.parse(text)) && isDay(text.slice(0, 10)), 'no such time'),
)
/** Any JSON value, nulls included, also where its key may be absent. */
export const json: Schema<unknown> = make(() => z.unknown())
/** Any JSON object, nulls included: `_meta`, config, structured content. */
export const bag: Schema<Bag> = make(() => z.object({}), undefined, 'JsonObject')
export type Bag = { readonly [key: string]: unknown }

export function is<const T extends string | boolean | null>(value: T): Schema<T> {
  return make(() => z.literal(value))
}

/** A closed enum: other values are refused. */
export function oneOf<const T extends string>(name: string, values: readonly [T, ...T[]]): Schema<T> {
  return make(() => z.enum(values), undefined, name)
}

/** An open enum: values of later versions are kept and passed on. The type still suggests the known ones. */
export function openEnum<const T extends string>(
  name: string,
  values: readonly T[],
): Schema<T | (string & {})> {
  return make(() => z.string().meta({ examples: [...values] }), undefined, name)
}

export function array<T>(item: Schema<T>): Schema<readonly T[]> {
  const { withoutNulls } = item[inner]
  return make(
    () => z.array(item[inner].zod),
    withoutNulls && ((value) => (Array.isArray(value) ? eachItem(value, withoutNulls) : value)),
  )
}

export function record<T>(item: Schema<T>): Schema<{ readonly [key: string]: T }> {
  const { withoutNulls } = item[inner]
  return make(
    () => z.record(z.string(), item[inner].zod),
    withoutNulls &&
      ((value) => (isObject(value) ? eachKey(value, Object.keys(value), () => withoutNulls) : value)),
  )
}

/** The key may be absent; `null` there reads as absent. */
export function optional<T>(item: Schema<T>): Optional<T> {
  const { withoutNulls } = item[inner]
  const drops = (value: unknown) => (value === null ? undefined : (withoutNulls?.(value) ?? value))
  return make(() => item[inner].zod.optional(), item === json ? undefined : drops) as Optional<T>
}

/** The key may be absent, and `null` is an error: for the keys whose absence destroys something. */
export function optionalNotNull<T>(item: Schema<T>): Optional<T> {
  return make(() => item[inner].zod.optional(), item[inner].withoutNulls) as Optional<T>
}

/** Either of two scalars or shapes, the first that fits. */
export function either<A, B>(a: Schema<A>, b: Schema<B>, name?: string): Schema<A | B> {
  const drops = [a[inner].withoutNulls, b[inner].withoutNulls].filter((drop) => drop !== undefined)
  return make(
    () => z.union([a[inner].zod, b[inner].zod]),
    drops.length === 0 ? undefined : (value) => drops.reduce((kept, drop) => drop(kept), value),
    name,
  )
}

/** A shape that mentions itself. */
export function lazy<T>(get: () => Schema<T>): Schema<T> {
  return make(
    () => z.lazy(() => get()[inner].zod),
    (value) => get()[inner].withoutNulls?.(value) ?? value,
  )
}

export function object<S extends Shape>(name: string, shape: S): Schema<Infer<S>>
export function object<T>(name: string, shape: ShapeOf<T>): Schema<T>
export function object(name: string, shape: Shape): Schema<unknown> {
  const keys = Object.keys(shape).filter((key) => shape[key]?.[inner].withoutNulls)
  const drops = (value: unknown) =>
    isObject(value) ? eachKey(value, keys, (key) => shape[key]?.[inner].withoutNulls) : value
  const zods = () => Object.fromEntries(Object.entries(shape).map(([key, item]) => [key, item[inner].zod]))
  return make(() => z.object(zods()), drops, name)
}

/**
 * Shapes told apart by one key. An open variant keeps members it does not know as they are; the type names only
 * the known ones, because a member `{ kind: string }` would undo narrowing: handle the rest by a default. Tags that
 * are known elsewhere and do not belong here are listed instead of `open`.
 */
export function variant<M extends { readonly [tag: string]: Schema<unknown> }>(
  name: string,
  key: string,
  members: M,
  how: 'open' | 'closed' | readonly string[] = 'open',
): Schema<TypeOf<M[keyof M]>> {
  const byTag = new Map(Object.entries(members).map(([tag, member]) => [tag, member[inner]]))
  const drops = (value: unknown) =>
    isObject(value) ? (byTag.get(String(value[key]))?.withoutNulls?.(value) ?? value) : value
  const build = () => {
    const zods = [...byTag.values()].map((member) => member.zod) as unknown as [z.ZodObject]
    const known = z.discriminatedUnion(key, zods)
    const other = except(...byTag.keys(), ...(typeof how === 'string' ? [] : how))
    return how === 'closed' ? known : z.union([known, z.object({ [key]: other[inner].zod })])
  }
  return make(build, drops, name)
}

/** A named shape, for tools that hold only its name. */
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

/** An intersection as one object; the `& {}` makes an editor show its keys instead of this name. */
export type Flat<T> = { readonly [K in keyof T]: T[K] } & {}

export function isSchema(value: Schema<unknown> | Shape): value is Schema<unknown> {
  return inner in value
}

interface Inner {
  readonly zod: z.ZodType
  readonly withoutNulls: Drop | undefined
}

/** Gives the value without the nulls that read as absent; the same value when there are none. */
type Drop = (value: unknown) => unknown

/** The library's part is built when it is first asked for: a process meets few of the shapes, and starts sooner. */
function make<T>(build: () => z.ZodType, withoutNulls?: Drop, name?: string): Schema<T> {
  let built: z.ZodType | undefined
  const made: Schema<T> = {
    [inner]: {
      withoutNulls,
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

function eachItem(list: readonly unknown[], drop: Drop): readonly unknown[] {
  const next = list.map(drop)
  return next.every((item, i) => item === list[i]) ? list : next
}

function eachKey(value: Bag, keys: readonly string[], dropAt: (key: string) => Drop | undefined): Bag {
  let next: Record<string, unknown> | undefined
  for (const key of keys) {
    if (!Object.hasOwn(value, key)) continue
    const kept = dropAt(key)?.(value[key])
    if (kept === value[key]) continue
    next ??= { ...value }
    if (kept === undefined) delete next[key]
    else next[key] = kept
  }
  return next ?? value
}

/** Parsing rolls February 30 over into March; a day that exists comes back as it was. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

function isObject(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The first problem, at its path; of a union the branch that came furthest, which is the one that was meant. */
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

/** Inside one document, definitions refer to each other directly and need no ids of their own. */
function definition(schema: object): object {
  const { $schema: _, $id: __, id: ___, ...rest } = schema as Record<string, unknown>
  return rest
}
