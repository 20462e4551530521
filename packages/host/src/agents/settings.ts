import type { SessionConfigPropertySchema, SessionConfigSchema } from '@atrium/protocol/common/config'
import { permissionsKey, permissionsProblem, permissionsProperty } from '../access/permissions.ts'

type Values = Readonly<Record<string, unknown>>

const nothing: SessionConfigSchema = { type: 'object', properties: {} }

/** What a session can be set to: what its agent has, and what people allow in it. */
export function sessionSchema(schema: SessionConfigSchema = nothing): SessionConfigSchema {
  return { ...schema, properties: { ...schema.properties, [permissionsKey]: permissionsProperty } }
}

/** What is wrong with the permissions among values, if they are there. */
export function permissionValuesProblem(given: Values = {}, most: number): string | undefined {
  return Object.hasOwn(given, permissionsKey) ? permissionsProblem(given[permissionsKey], most) : undefined
}

/** The values of a session's settings: what was given, else what is usual. Keys that nobody here reads are not kept. */
export function resolvedValues(schema: SessionConfigSchema = nothing, given: Values = {}): Values {
  const values = Object.entries(schema.properties).flatMap(([key, property]) => {
    const value = Object.hasOwn(given, key) ? given[key] : property.default
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(values)
}

/** What is wrong with values that are given for settings, in words; nothing when they fit. */
export function settingProblem(
  schema: SessionConfigSchema = nothing,
  given: Values = {},
): string | undefined {
  for (const [key, property] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(given, key)) continue
    const problem = valueProblem(property, given[key])
    if (problem !== undefined) return `${key} ${problem}`
  }
  return undefined
}

/** The same for a session that is there: only what its schema allows may change. */
export function changeProblem(schema: SessionConfigSchema = nothing, given: Values): string | undefined {
  const fixed = Object.keys(given).find((key) => !schema.properties[key]?.sessionMutable)
  if (fixed !== undefined) return `${JSON.stringify(fixed.slice(0, 100))} cannot be changed in this session`
  return settingProblem(schema, given)
}

function valueProblem(property: SessionConfigPropertySchema, value: unknown): string | undefined {
  const { type, enum: choices, enumDynamic, readOnly } = property
  if (readOnly) return 'can only be read'
  if (!isOf(type, value)) return `must be ${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`
  if (choices && !enumDynamic && !choices.includes(value as string))
    return `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
  return undefined
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return !['string', 'number', 'boolean'].includes(type) || typeof value === type
}
