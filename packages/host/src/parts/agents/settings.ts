import type { SessionConfigPropertySchema, SessionConfigSchema } from '@atrium/protocol/common/config'
import type { Core } from '../../kernel/core.ts'
import { permissionsKey, permissionsProblem, permissionsProperty } from '../access/tool-permissions.ts'

type Values = Readonly<Record<string, unknown>>

const emptySchema: SessionConfigSchema = { type: 'object', properties: {} }

/**
 * The config key of the customizations that a session begins with. The value is a list of the ids of plugins and of
 * folders with customizations. If the key is absent, the session begins with all of them.
 */
export const customizationsKey = 'atrium.customizations'

/** A customization that a session can begin with. */
export interface Choice {
  readonly id: string
  readonly name: string
}

/** Returns the schema of the customizations that a session begins with. By default it begins with all of them. */
export function customizationsProperty(choices?: readonly Choice[]): SessionConfigPropertySchema {
  const ids = choices?.map(({ id }) => id)
  const labels = choices?.map(({ name }) => name)
  return {
    type: 'array',
    title: 'Plugins',
    description: 'The plugins and folders of customizations that are on when the session begins.',
    items: { type: 'string', title: 'Plugin', ...(ids && labels && { enum: ids, enumLabels: labels }) },
    ...(ids && { default: ids }),
  }
}

/**
 * Returns the config schema of a session: the settings of its agent, the permissions, and the settings of the parts that the
 * host has.
 */
export function sessionSchema(
  schema: SessionConfigSchema = emptySchema,
  { parts }: Partial<Pick<Core, 'parts'>> = {},
): SessionConfigSchema {
  const own = {
    [permissionsKey]: permissionsProperty,
    ...parts?.settings,
  }
  return { ...schema, properties: { ...schema.properties, ...own } }
}

/** Returns the problem with the permissions among config values, if there is one. */
export function permissionValuesProblem(given: Values = {}, max: number): string | undefined {
  return Object.hasOwn(given, permissionsKey) ? permissionsProblem(given[permissionsKey], max) : undefined
}

/** Returns the values of a session's settings: the given ones, else the defaults. Unknown keys are dropped. */
export function resolvedValues(schema: SessionConfigSchema = emptySchema, given: Values = {}): Values {
  const values = Object.entries(schema.properties).flatMap(([key, property]) => {
    const value = Object.hasOwn(given, key) ? given[key] : property.default
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(values)
}

/** Returns the problem with values for settings. Undefined if they fit the schema. */
export function settingProblem(
  schema: SessionConfigSchema = emptySchema,
  given: Values = {},
): string | undefined {
  for (const [key, property] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(given, key)) continue
    const problem = valueProblem(property, given[key])
    if (problem !== undefined) return `${key} ${problem}`
  }
  return undefined
}

/** Like `settingProblem`, for an existing session, in which only `sessionMutable` settings may change. */
export function changeProblem(schema: SessionConfigSchema = emptySchema, given: Values): string | undefined {
  const fixed = Object.keys(given).find((key) => !schema.properties[key]?.sessionMutable)
  if (fixed !== undefined) return `${JSON.stringify(fixed.slice(0, 100))} cannot be changed in this session`
  return settingProblem(schema, given)
}

function valueProblem(property: SessionConfigPropertySchema, value: unknown): string | undefined {
  const { type, enum: choices, enumDynamic, readOnly } = property
  if (readOnly) return 'can only be read'
  if (!isOf(type, value)) return `must be ${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`
  if (choices && !enumDynamic && !choices.some((choice) => choice === value))
    return `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`
  return undefined
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return !['string', 'number', 'boolean'].includes(type) || typeof value === type
}
