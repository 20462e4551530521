import type { SessionConfigPropertySchema, SessionConfigSchema } from '@atrium/protocol/common/config'
import type { SessionModelInfo } from '@atrium/protocol/root/state'
import { compact } from '@atrium/protocol/update'
import { objectsIn, wordOf } from './tool-call.ts'
import type { ConfigChoice, ConfigOption, Modes, Opened } from './process/schema.ts'

/** One thing that a session of an agent can be set to, and how the agent is told. */
export interface Knob {
  readonly kind: 'option' | 'mode' | 'model'
  readonly id: string
  readonly title: string
  readonly description: string | undefined
  readonly isModel: boolean
  readonly choices: readonly Required<Pick<ConfigChoice, 'value' | 'name'>>[] | undefined
  readonly current: string | boolean | undefined
}

/**
 * What a session can be set to. Agents say it in up to three ways at once: as options, which are the newest, as modes, and as models;
 * what an older way says again is left out.
 */
export function knobsOf(opened: Opened): readonly Knob[] {
  const { configOptions, modes, models } = opened ?? {}
  const said = objectsIn(configOptions).slice(0, mostKnobs)
  const options = said.flatMap(knobOf)
  const has = (word: string) => said.some(({ id, category }) => id === word || category === word)
  const older = [has('mode') ? undefined : modeKnob(modes), has('model') ? undefined : modelKnob(models)]
  return [...options, ...older.flatMap((knob) => knob ?? [])]
}

/** How a session's settings are called: each agent has its own. */
export function keyOf(provider: string, { id }: Knob): string {
  return `${provider}.${id}`
}

/** Models are chosen with each message, so they are no settings. */
export function schemaOf(provider: string, knobs: readonly Knob[]): SessionConfigSchema {
  const properties = knobs
    .filter(({ isModel }) => !isModel)
    .map((knob) => [keyOf(provider, knob), propertyOf(knob)] as const)
  return { type: 'object', properties: Object.fromEntries(properties) }
}

export function modelsOf(provider: string, knobs: readonly Knob[]): readonly SessionModelInfo[] {
  const choices = knobs.find(({ isModel }) => isModel)?.choices ?? []
  return choices.map(({ value: id, name }) => ({ id, provider, name }))
}

function propertyOf({ title, description, choices }: Knob): SessionConfigPropertySchema {
  return compact<SessionConfigPropertySchema>({
    type: choices ? 'string' : 'boolean',
    title,
    description,
    enum: choices?.map(({ value }) => value),
    enumLabels: choices?.map(({ name }) => name),
    sessionMutable: true,
  })
}

function knobOf({
  id,
  name,
  description,
  category,
  type,
  currentValue,
  options,
}: ConfigOption): readonly Knob[] {
  if (typeof id !== 'string' || id === '') return []
  const choices = type === 'boolean' ? undefined : choicesOf(objectsIn(options).flatMap(flat))
  if (choices?.length === 0) return []
  const isModel = category === 'model' || (category === undefined && id === 'model')
  const about = { title: wordOf(name) ?? id, description: wordOf(description) }
  const current =
    typeof currentValue === 'string' || typeof currentValue === 'boolean' ? currentValue : undefined
  return [{ kind: 'option', id, ...about, isModel, choices, current }]
}

function modeKnob(modes: Modes | null | undefined): Knob | undefined {
  const choices = choicesOf(objectsIn(modes?.availableModes).map(({ id, name }) => ({ value: id, name })))
  if (choices.length === 0) return undefined
  const current = wordIn(modes?.currentModeId)
  return { kind: 'mode', id: 'mode', title: 'Mode', description: undefined, isModel: false, choices, current }
}

function modelKnob(models: Opened['models']): Knob | undefined {
  const choices = choicesOf(
    objectsIn(models?.availableModels).map(({ modelId, name }) => ({ value: modelId, name })),
  )
  if (choices.length === 0) return undefined
  const current = wordIn(models?.currentModelId)
  return {
    kind: 'model',
    id: 'model',
    title: 'Model',
    description: undefined,
    isModel: true,
    choices,
    current,
  }
}

/** Choices may come in groups. */
function flat(entry: ConfigChoice | { readonly options?: readonly ConfigChoice[] }): readonly ConfigChoice[] {
  return 'options' in entry ? objectsIn(entry.options) : [entry as ConfigChoice]
}

/** It stands in states that everyone has: nothing of another shape, and no more than anybody chooses from. */
function choicesOf(said: readonly { value?: string | undefined; name?: string | undefined }[]) {
  return said
    .slice(0, mostChoices)
    .flatMap(({ value, name }) =>
      typeof value === 'string' && value !== '' ? [{ value, name: wordOf(name) ?? value }] : [],
    )
}

function wordIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const mostKnobs = 100
const mostChoices = 1000
