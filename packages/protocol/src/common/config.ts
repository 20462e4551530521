import {
  array,
  jsonObject,
  boolean,
  either,
  is,
  json,
  lazy,
  natural,
  number,
  object,
  openEnum,
  optional,
  record,
  string,
} from '../schema.ts'
import type { Infer, Schema } from '../schema.ts'

export type JsonPrimitive = string | number | boolean | null
export const JsonPrimitive: Schema<JsonPrimitive> = either(
  either(string, number),
  either(boolean, is(null)),
  'JsonPrimitive',
)

const flat = {
  type: openEnum('ConfigPropertyType', ['string', 'number', 'boolean', 'array', 'object']),
  title: string,
  description: optional(string),
  default: optional(json),
  enum: optional(array(JsonPrimitive)),
  enumLabels: optional(array(string)),
  enumDescriptions: optional(array(string)),
  readOnly: optional(boolean),
  minItems: optional(natural),
  maxItems: optional(natural),
  required: optional(array(string)),
}
// A property may contain properties. The compiler cannot infer a recursive type, so this part is written out.
interface Nested {
  readonly items?: ConfigPropertySchema
  readonly properties?: { readonly [key: string]: ConfigPropertySchema }
  readonly additionalProperties?: ConfigPropertySchema
}
const self: Schema<ConfigPropertySchema> = lazy(() => ConfigPropertySchema)
const nested = {
  items: optional(self),
  properties: optional(record(self)),
  additionalProperties: optional(self),
}

export interface ConfigPropertySchema extends Infer<typeof flat>, Nested {}
export const ConfigPropertySchema = object<ConfigPropertySchema>('ConfigPropertySchema', {
  ...flat,
  ...nested,
})

const configSchema = {
  type: is('object'),
  properties: record(ConfigPropertySchema),
  required: optional(array(string)),
}
export interface ConfigSchema extends Infer<typeof configSchema> {}
export const ConfigSchema = object<ConfigSchema>('ConfigSchema', configSchema)

const configState = { schema: ConfigSchema, values: jsonObject }
export interface ConfigState extends Infer<typeof configState> {}
export const ConfigState = object<ConfigState>('ConfigState', configState)

const sessionProperty = {
  ...flat,
  ...nested,
  enumDynamic: optional(boolean),
  sessionMutable: optional(boolean),
}
export interface SessionConfigPropertySchema extends Infer<typeof sessionProperty> {}
export const SessionConfigPropertySchema = object<SessionConfigPropertySchema>(
  'SessionConfigPropertySchema',
  sessionProperty,
)

const sessionConfigSchema = { ...configSchema, properties: record(SessionConfigPropertySchema) }
export interface SessionConfigSchema extends Infer<typeof sessionConfigSchema> {}
export const SessionConfigSchema = object<SessionConfigSchema>('SessionConfigSchema', sessionConfigSchema)

const sessionConfigState = { schema: SessionConfigSchema, values: jsonObject }
export interface SessionConfigState extends Infer<typeof sessionConfigState> {}
export const SessionConfigState = object<SessionConfigState>('SessionConfigState', sessionConfigState)
