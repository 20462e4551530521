import type { SessionConfigPropertySchema, SessionConfigSchema } from '@atrium/protocol/common/config'
import type { SessionModelInfo } from '@atrium/protocol/root/state'
import { compact } from '@atrium/protocol/update'
import type { ConfigChoice, ConfigOption, Modes, Opened } from './agent-acp-wire.ts'

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
export function knobsOf({ configOptions, modes, models }: Opened): readonly Knob[] {
  const options = (configOptions ?? []).flatMap(knobOf)
  const has = (word: string) =>
    (configOptions ?? []).some(({ id, category }) => id === word || category === word)
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
  const choices = type === 'boolean' ? undefined : (options ?? []).flatMap(flat).flatMap(choiceOf)
  if (choices?.length === 0) return []
  const isModel = category === 'model' || (category === undefined && id === 'model')
  const about = { title: name ?? id, description: description ?? undefined }
  return [{ kind: 'option', id, ...about, isModel, choices, current: currentValue }]
}

function modeKnob(modes: Modes | null | undefined): Knob | undefined {
  const choices = (modes?.availableModes ?? []).flatMap(({ id, name }) => choiceOf({ value: id, name }))
  if (choices.length === 0) return undefined
  const current = modes?.currentModeId
  return { kind: 'mode', id: 'mode', title: 'Mode', description: undefined, isModel: false, choices, current }
}

function modelKnob(models: Opened['models']): Knob | undefined {
  const choices = (models?.availableModels ?? []).flatMap(({ modelId, name }) =>
    choiceOf({ value: modelId, name }),
  )
  if (choices.length === 0) return undefined
  const current = models?.currentModelId
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
  return 'options' in entry ? (entry.options ?? []) : [entry as ConfigChoice]
}

function choiceOf({ value, name }: { value?: string | undefined; name?: string | undefined }) {
  return typeof value === 'string' && value !== '' ? [{ value, name: name ?? value }] : []
}
