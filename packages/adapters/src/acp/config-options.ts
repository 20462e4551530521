import type { SessionConfigPropertySchema, SessionConfigSchema } from '@atrium/protocol/common/config'
import type { SessionModelInfo } from '@atrium/protocol/root/state'
import { compact } from '@atrium/protocol/update'
import { objectsIn, oneLine } from './calls/tool-call.ts'
import type {
  OpenSessionResponse,
  SessionConfigGroup,
  SessionConfigOption,
  SessionConfigValue,
} from './process/schema.ts'

/**
 * One setting of an ACP session. The member `kind` tells which ACP method sets it. Options are stored with the profile of the
 * agent, so the names of these members must not change.
 */
export interface ConfigOption {
  readonly kind: 'option' | 'mode' | 'model'
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  readonly isModel: boolean
  /** The values to choose from. Undefined for a boolean option. */
  readonly choices: readonly Required<Pick<SessionConfigValue, 'value' | 'name'>>[] | undefined
  readonly current: string | boolean | undefined
}

/**
 * Returns the settings of a session. ACP has three forms of settings: config options (the newest form), modes, and models.
 * Agents may send the same setting in several forms. A mode or model setting is left out if the config options contain it
 * too.
 */
export function configOptionsOf(response: OpenSessionResponse): readonly ConfigOption[] {
  const { configOptions, modes, models } = response ?? {}
  const listed = objectsIn(configOptions).slice(0, maxOptions)
  const options = listed.flatMap(toConfigOption)
  const has = (name: string) => listed.some(({ id, category }) => id === name || category === name)
  const older = [has('mode') ? undefined : modeOption(modes), has('model') ? undefined : modelOption(models)]
  return [...options, ...older.flatMap((option) => option ?? [])]
}

/**
 * Returns the key of an option in the session's config. The key contains the provider, because two agents may use the same
 * option id.
 */
export function configKey(provider: string, { id }: ConfigOption): string {
  return `${provider}.${id}`
}

/** Returns the schema of the options. The model is left out, because each message names its own model. */
export function configSchema(provider: string, options: readonly ConfigOption[]): SessionConfigSchema {
  const properties = options
    .filter(({ isModel }) => !isModel)
    .map((option) => [configKey(provider, option), propertyOf(option)] as const)
  return { type: 'object', properties: Object.fromEntries(properties) }
}

export function modelsOf(provider: string, options: readonly ConfigOption[]): readonly SessionModelInfo[] {
  const choices = options.find(({ isModel }) => isModel)?.choices ?? []
  return choices.map(({ value: id, name }) => ({ id, provider, name }))
}

function propertyOf({ title, description, choices }: ConfigOption): SessionConfigPropertySchema {
  return compact<SessionConfigPropertySchema>({
    type: choices ? 'string' : 'boolean',
    title,
    description,
    enum: choices?.map(({ value }) => value),
    enumLabels: choices?.map(({ name }) => name),
    sessionMutable: true,
  })
}

function toConfigOption(listed: SessionConfigOption): readonly ConfigOption[] {
  const { id, name, description, category, type, currentValue, options } = listed
  if (typeof id !== 'string' || id === '') return []
  const choices = type === 'boolean' ? undefined : choicesOf(objectsIn(options).flatMap(ungrouped))
  if (choices?.length === 0) return []
  const isModel = category === 'model' || (category === undefined && id === 'model')
  const labels = { title: oneLine(name) ?? id, description: oneLine(description) }
  const current =
    typeof currentValue === 'string' || typeof currentValue === 'boolean' ? currentValue : undefined
  return [{ kind: 'option', id, ...labels, isModel, choices, current }]
}

function modeOption(modes: OpenSessionResponse['modes']): ConfigOption | undefined {
  const choices = choicesOf(objectsIn(modes?.availableModes).map(({ id, name }) => ({ value: id, name })))
  if (choices.length === 0) return undefined
  const current = stringOf(modes?.currentModeId)
  return { kind: 'mode', id: 'mode', title: 'Mode', description: undefined, isModel: false, choices, current }
}

function modelOption(models: OpenSessionResponse['models']): ConfigOption | undefined {
  const choices = choicesOf(
    objectsIn(models?.availableModels).map(({ modelId, name }) => ({ value: modelId, name })),
  )
  if (choices.length === 0) return undefined
  const labels = { id: 'model', title: 'Model', description: undefined }
  return { kind: 'model', ...labels, isModel: true, choices, current: stringOf(models?.currentModelId) }
}

function ungrouped(entry: SessionConfigValue | SessionConfigGroup): readonly SessionConfigValue[] {
  return 'options' in entry ? objectsIn(entry.options) : [entry]
}

/**
 * Returns at most `maxChoices` valid choices. The number is limited, because every client receives all choices with the
 * session's state.
 */
function choicesOf(values: readonly { value?: string | undefined; name?: string | undefined }[]) {
  return values
    .slice(0, maxChoices)
    .flatMap(({ value, name }) =>
      typeof value === 'string' && value !== '' ? [{ value, name: oneLine(name) ?? value }] : [],
    )
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const maxOptions = 100
const maxChoices = 1000
