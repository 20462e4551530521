import { isJsonObject } from '@atrium/protocol/json'
import { agentPlugins, agentPluginsVersion } from './formats.ts'
import type { Format, PlaceKind } from './formats.ts'
import type { JsonText } from './parse/json-text.ts'
import { isText, isTexts } from './parse/json-shapes.ts'
import { printable, Unusable } from './parse/plugin-text.ts'

/** What a manifest says. `problems` are about fields that are ignored. */
export interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly description?: string
  readonly places: { readonly [K in PlaceKind]?: Declared }
  readonly problems: readonly string[]
}

/**
 * The places that a manifest declares for components of one kind. They are used in addition to the usual places or, if
 * `exclusive` is true, instead of them.
 */
export interface Declared {
  readonly paths: readonly string[]
  readonly exclusive: boolean
  /** The keys that lead to components that are written in the manifest itself. */
  readonly inline?: readonly string[]
}

export const noManifest: Manifest = { places: {}, problems: [] }

export function readManifest(json: JsonText, format: Format): Manifest {
  return format.strict ? strictManifest(json) : lenientManifest(json)
}

function lenientManifest({ value }: JsonText): Manifest {
  const problems: string[] = []
  const places: { [K in PlaceKind]?: Declared } = {}
  for (const kind of placeKinds) {
    const field = value[kind]
    if (field === undefined || field === null) continue
    const declared = declaredPlace(kind, field)
    if (declared) places[kind] = declared
    else
      problems.push(
        `The field ${kind} is neither a path, nor a list of paths, nor an object that is understood.`,
      )
  }
  const { name, version, description } = value
  if (!isPluginName(name))
    problems.push(`The name ${printable(JSON.stringify(name) ?? 'is missing; it')} must be ${nameRule}.`)
  return { ...texts({ name: isPluginName(name) ? name : undefined, version, description }), places, problems }
}

/** The fields of a manifest that say where components are, in the order in which components are loaded. */
export const placeKinds: readonly PlaceKind[] = [
  'skills',
  'agents',
  'commands',
  'rules',
  'hooks',
  'mcpServers',
]

function declaredPlace(kind: PlaceKind, field: unknown): Declared | undefined {
  if (typeof field === 'string') return { paths: [field], exclusive: false }
  if (isTexts(field)) return { paths: field, exclusive: false }
  if (!isJsonObject(field)) return undefined
  if (isTexts(field['paths'])) return { paths: field['paths'], exclusive: field['exclusive'] === true }
  const none = { paths: [], exclusive: false }
  if (kind === 'hooks') return { ...none, inline: [kind] }
  if (kind !== 'mcpServers') return undefined
  if (isJsonObject(field['mcpServers'])) return { ...none, inline: [kind, kind] }
  // The servers may also stand directly in the field, without an inner `mcpServers`. No specification allows this,
  // but some plugins do it.
  return Object.values(field).every(isJsonObject) ? { ...none, inline: [kind] } : undefined
}

/** The fields of the strict format, and what each must be. `name` and `$schema` are required. */
const strictFields: { readonly [field: string]: (value: unknown) => boolean } = {
  $schema: (value) => value === `${agentPlugins}${agentPluginsVersion}/plugin.schema.json`,
  name: isPluginName,
  version: isText,
  description: isText,
  author: (value) =>
    isJsonObject(value) &&
    Object.entries(value).every(([key, each]) => ['name', 'email', 'url'].includes(key) && isText(each)),
  homepage: isText,
  repository: isText,
  license: isText,
  keywords: isTexts,
}

function strictManifest({ value }: JsonText): Manifest {
  const problems: string[] = []
  const { name, version, description, extensions } = value
  for (const field of Object.keys(value))
    if (field !== 'extensions' && !Object.hasOwn(strictFields, field))
      problems.push(`The field ${printable(field)} is unknown, and is ignored.`)
  if (
    extensions !== undefined &&
    !(isJsonObject(extensions) && Object.values(extensions).every(isJsonObject))
  )
    problems.push('The field extensions is not an object of objects, and is ignored.')
  for (const [field, fits] of Object.entries(strictFields)) {
    const required = field === 'name' || field === '$schema'
    if (value[field] === undefined ? required : !fits(value[field])) throw new Unusable(strictProblem(field))
  }
  return { ...texts({ name, version, description }), places: {}, problems }
}

function strictProblem(field: string): string {
  if (field === 'name') return `The field name must be ${nameRule}.`
  if (field === '$schema')
    return `The field $schema must name version ${agentPluginsVersion} of Agent Plugins.`
  return `The field ${field} has a value that Agent Plugins does not allow.`
}

const nameRule = 'at most 64 letters a-z, digits, single - and ., with a letter or digit at both ends'

function isPluginName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64 && /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(value)
}

function texts(values: { readonly [K in 'name' | 'version' | 'description']: unknown }) {
  const found: { name?: string; version?: string; description?: string } = {}
  for (const key of ['name', 'version', 'description'] as const) {
    const value = values[key]
    if (isText(value) && value !== '') found[key] = value
  }
  return found
}
