import fc from 'fast-check'
import { protocolDocument } from '../src/document.ts'

/** Random valid values, made from the JSON Schema that the shapes give. */
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

interface How {
  /** Below this depth only what must be there is made, so that shapes that hold themselves come to an end. */
  readonly deep: number
  /** Where identifiers come from: with few of them, things that are made apart have to do with each other. */
  readonly ids?: fc.Arbitrary<string>
  /** Shapes to make more often where a named one is asked for, because they are what a test is about. */
  readonly often?: { readonly [name: string]: readonly string[] }
}

export function valueOf(name: string, how: How = { deep: 4 }): fc.Arbitrary<unknown> {
  return arbitrary(definitions[name] ?? {}, how, 0)
}

function arbitrary(schema: JsonSchema, how: How, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/$defs/', '')
    if (name === 'Identifier' && how.ids) return how.ids
    return fc
      .constantFrom(name, ...(how.often?.[name] ?? []))
      .chain((one) => arbitrary(definitions[one] ?? {}, how, depth))
  }
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) return fc.oneof(...branches.map((branch) => arbitrary(branch, how, depth)))
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => arbitrary({ ...schema, type }, how, depth)))
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
      return fc.array(arbitrary(schema.items ?? {}, how, depth + 1), { maxLength: depth < how.deep ? 3 : 0 })
    case 'object':
      return object(schema, how, depth)
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
    return fc.string({ minLength: 1, maxLength: 12 }).filter((made) => allowed.test(made))
  }
  if (schema.not !== undefined) return fc.string({ maxLength: 8 }).map((tail) => `x-${tail}`)
  if (schema.examples) return fc.oneof(fc.constantFrom(...schema.examples), fc.constant('x-later'))
  return fc.string({ unit: 'grapheme', maxLength: 20 })
}

function object(schema: JsonSchema, how: How, depth: number): fc.Arbitrary<unknown> {
  const required = new Set(schema.required)
  const wanted = Object.entries(schema.properties ?? {}).filter(
    ([key]) => required.has(key) || depth < how.deep,
  )
  const known = fc.record(
    Object.fromEntries(wanted.map(([key, item]) => [key, member(key, item, how, depth + 1)])),
    { requiredKeys: [...required], noNullPrototype: true },
  )
  const others =
    Object.keys(schema.properties ?? {}).length > 0
      ? fc.dictionary(fc.constantFrom('x-extra', 'future'), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 })
      : fc.dictionary(
          fc.string({ minLength: 1, maxLength: 5 }),
          arbitrary(schema.additionalProperties ?? {}, how, depth + 1),
          { maxKeys: 2 },
        )
  return fc.tuple(others, known).map(([extra, made]) => ({ ...extra, ...(made as object) }))
}

/** Some identifiers may be any text, and are told by their key alone. */
function member(key: string, schema: JsonSchema, how: How, depth: number): fc.Arbitrary<unknown> {
  return key === 'id' && how.ids ? how.ids : arbitrary(schema, how, depth)
}

/** The value with one place in it replaced, removed or doubled by something that may not belong there. */
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
  const { [key]: child, ...others } = value as Record<string, unknown>
  const next = replaced(child, rest, replacement)
  return next === undefined ? others : { ...others, [key]: next }
}
