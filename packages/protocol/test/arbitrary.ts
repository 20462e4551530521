import fc from 'fast-check'
import { protocolDocument } from '../src/document.ts'
import { isJsonObject } from '../src/json.ts'

// Random values for tests, valid and invalid, made from the JSON Schema of the protocol.

interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly string[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly properties?: { readonly [key: string]: JsonSchema }
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema
  readonly not?: unknown
}

export const definitions = (protocolDocument() as { $defs: { [name: string]: JsonSchema } }).$defs

interface Options {
  /** Below this depth, objects have only their required keys, so that recursive shapes end. */
  readonly deep: number
  /** The source of identifiers. A small set of identifiers makes separate values refer to each other. */
  readonly ids?: fc.Arbitrary<string>
  /** For a named shape, the shapes to use more often in its place, because a test is about them. */
  readonly often?: { readonly [name: string]: readonly string[] }
}

const usual: Options = { deep: 4 }

export function valueOf(name: string, options: Options = usual): fc.Arbitrary<unknown> {
  return shape(name, options, 0)
}

/** The arbitraries of named shapes. They are kept, because making one takes much longer than drawing a value from it. */
const made = new WeakMap<Options, Map<string, fc.Arbitrary<unknown>>>()

function shape(name: string, options: Options, depth: number): fc.Arbitrary<unknown> {
  const kept = made.get(options) ?? new Map<string, fc.Arbitrary<unknown>>()
  made.set(options, kept)
  // All depths from `deep` on are the same.
  const key = `${Math.min(depth, options.deep)} ${name}`
  const one = kept.get(key) ?? arbitrary(definitions[name] ?? {}, options, depth)
  kept.set(key, one)
  return one
}

function arbitrary(schema: JsonSchema, options: Options, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/$defs/', '')
    if (name === 'Identifier' && options.ids) return options.ids
    return fc.constantFrom(name, ...(options.often?.[name] ?? [])).chain((one) => shape(one, options, depth))
  }
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) return fc.oneof(...branches.map((branch) => arbitrary(branch, options, depth)))
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => arbitrary({ ...schema, type }, options, depth)))
  switch (schema.type) {
    case 'string':
      return text(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1e9, 2 ** 31) })
    case 'number':
      return fc
        .double({
          noNaN: true,
          noDefaultInfinity: true,
          min: schema.minimum ?? -1e6,
          max: schema.maximum ?? 1e6,
        })
        .map((n) => n + 0)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(arbitrary(schema.items ?? {}, options, depth + 1), {
        maxLength: depth < options.deep ? 3 : 0,
      })
    case 'object':
      return object(schema, options, depth)
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

function text(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.pattern?.startsWith('^\\d{4}'))
    return fc
      .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
      .map((date) => date.toISOString())
  if (schema.pattern !== undefined) {
    const allowed = new RegExp(schema.pattern, 'u')
    return fc.string({ minLength: 1, maxLength: 12 }).filter((drawn) => allowed.test(drawn))
  }
  if (schema.not !== undefined) return fc.string({ maxLength: 8 }).map((tail) => `x-${tail}`)
  if (schema.examples) return fc.oneof(fc.constantFrom(...schema.examples), fc.constant('x-later'))
  return fc.string({ unit: 'grapheme', maxLength: 20 })
}

function object(schema: JsonSchema, options: Options, depth: number): fc.Arbitrary<unknown> {
  const required = new Set(schema.required)
  const wanted = Object.entries(schema.properties ?? {}).filter(
    ([key]) => required.has(key) || depth < options.deep,
  )
  const known = fc.record(
    Object.fromEntries(wanted.map(([key, item]) => [key, member(key, item, options, depth + 1)])),
    { requiredKeys: [...required], noNullPrototype: true },
  )
  const others =
    Object.keys(schema.properties ?? {}).length > 0
      ? fc.dictionary(fc.constantFrom('x-extra', 'future'), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 })
      : fc.dictionary(
          fc.string({ minLength: 1, maxLength: 5 }),
          arbitrary(schema.additionalProperties ?? {}, options, depth + 1),
          { maxKeys: 2 },
        )
  return fc.tuple(others, known).map(([extra, rest]) => ({ ...extra, ...(rest as object) }))
}

/** A member of an object. Some identifiers have no schema of their own and are recognized by the key `id`. */
function member(key: string, schema: JsonSchema, options: Options, depth: number): fc.Arbitrary<unknown> {
  return key === 'id' && options.ids ? options.ids : arbitrary(schema, options, depth)
}

/** The value with one random part of it removed, or replaced by a value that may be invalid there. */
export function mutated(value: unknown, by: fc.Arbitrary<unknown> = odd): fc.Arbitrary<unknown> {
  const paths = pathsOf(value)
  return fc
    .tuple(fc.constantFrom(...paths), fc.option(by, { nil: undefined }))
    .map(([path, replacement]) => replaced(value, path, replacement))
}

export const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    1.5,
    2 ** 60,
    '',
    [],
    {},
    'constructor',
    '__proto__',
    '\ud800',
    '\u0000',
    '\u202e',
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

function pathsOf(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]]
  return [
    [],
    ...Object.entries(value).flatMap(([key, child]) => pathsOf(child).map((path) => [key, ...path])),
  ]
}

function replaced(value: unknown, [key, ...rest]: readonly string[], replacement: unknown): unknown {
  if (key === undefined) return replacement
  if (Array.isArray(value))
    return value.map((item, i) => (String(i) === key ? replaced(item, rest, replacement) : item))
  if (!isJsonObject(value)) return value
  const { [key]: child, ...others } = value
  const next = replaced(child, rest, replacement)
  return next === undefined ? others : { ...others, [key]: next }
}
