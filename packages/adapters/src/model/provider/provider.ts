import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider'
import { anthropicModels, openaiModels } from './model-list.ts'
import { modelsIn } from './config.ts'
import type { CompatibleConfig, ModelConfig, ModelsConfig, VendorConfig } from './config.ts'
import { askAnthropic, askCompatible, askOpenai } from './discover.ts'

/** How a request is made of a model, in the words of its vendor. */
export type ProviderOptions = SharedV3ProviderOptions

/** Somebody who has models, and how they are spoken to. */
export interface Vendor {
  /** What the ids of its models begin with. */
  readonly name: string
  readonly displayName: string
  /** What a key is shown to: the very address, so that no key goes anywhere else. */
  readonly resource: string
  /** Absent where no key is needed. */
  readonly keyVariable?: string
  /** The models that are known without asking. */
  readonly models: readonly ModelConfig[]
  /** Which there are, by its own word. */
  ask(key: string | undefined, signal: AbortSignal): Promise<readonly ModelConfig[]>
  open(model: string, key: string | undefined): Promise<LanguageModelV3>
  options(model: string, effort: string | undefined): ProviderOptions
}

export type Environment = { readonly [name: string]: string | undefined }

export function vendorsOf(config: ModelsConfig, environment: Environment): readonly Vendor[] {
  const { anthropic: first = {}, openai: second = {}, compatible = {} } = config
  return [
    ...(first === false ? [] : [anthropic(first, environment)]),
    ...(second === false ? [] : [openai(second, environment)]),
    ...Object.entries(compatible).map(([name, each]) => compatibleVendor(name, each)),
  ]
}

function anthropic(config: VendorConfig, environment: Environment): Vendor {
  // With or without the version behind it: both are written.
  const root = plain(config.baseUrl ?? environment['ANTHROPIC_BASE_URL'] ?? 'https://api.anthropic.com')
  const baseURL = /\/v\d+$/.test(root) ? root : `${root}/v1`
  return {
    name: 'anthropic',
    displayName: 'Anthropic',
    resource: root,
    keyVariable: 'ANTHROPIC_API_KEY',
    models: overlaid(anthropicModels, modelsIn(config)),
    ask: async (key, signal) => known(await askAnthropic(baseURL, key, signal), config),
    async open(model, key = '') {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ baseURL, apiKey: key, fetch: straight })(model)
    },
    options: (model, effort) => ({
      anthropic: {
        ...(thinksByItself(model) && { thinking: { type: 'adaptive', display: 'summarized' } }),
        ...(effort !== undefined && { effort }),
      },
    }),
  }
}

/** From 4.6 on a model decides itself how much it thinks, and thoughts of turns before need not be sent back. */
function thinksByItself(model: string): boolean {
  const [, major = '0', minor = '0'] = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:-|$)/.exec(model) ?? []
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 6)
}

function openai(config: VendorConfig, environment: Environment): Vendor {
  const baseURL = plain(config.baseUrl ?? environment['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1')
  return {
    name: 'openai',
    displayName: 'OpenAI',
    resource: baseURL,
    keyVariable: 'OPENAI_API_KEY',
    models: overlaid(openaiModels, modelsIn(config)),
    ask: async (key, signal) => known(await askOpenai(baseURL, key, signal), config),
    async open(model, key = '') {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ baseURL, apiKey: key, fetch: straight }).responses(model)
    },
    // The log is here: nothing has to be kept there.
    options: (_, effort) => ({
      openai: {
        store: false,
        ...(effort !== undefined && { reasoningEffort: effort, reasoningSummary: 'auto' }),
      },
    }),
  }
}

function compatibleVendor(name: string, config: CompatibleConfig): Vendor {
  if (!/^[\w.-]{1,64}$/.test(name) || name === 'anthropic' || name === 'openai')
    throw new Error(
      `models.compatible: ${JSON.stringify(name)} is no name for one: letters, digits, "." and "-"`,
    )
  const baseURL = plain(config.baseUrl)
  const { apiKeyVariable: keyVariable } = config
  return {
    name,
    displayName: name,
    resource: baseURL,
    ...(keyVariable !== undefined && { keyVariable }),
    models: modelsIn(config),
    ask: async (key, signal) => known(await askCompatible(baseURL, key, signal), config),
    async open(model, key) {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const how = {
        name,
        baseURL,
        includeUsage: true,
        fetch: straight,
        ...(key !== undefined && { apiKey: key }),
      }
      return createOpenAICompatible(how)(model)
    },
    options: (_, effort) => ({ [name]: { ...(effort !== undefined && { reasoningEffort: effort }) } }),
  }
}

/** A key is for one address: whoever sends elsewhere does not get it sent there. */
const straight: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'error' })

/** What a client is told that a key could be given for. A key is never required: the environment may have it. */
export function resourcesOf(vendors: readonly Vendor[]): readonly ProtectedResourceMetadata[] {
  return vendors.flatMap(({ resource, displayName, keyVariable }) =>
    keyVariable === undefined ? [] : [{ resource, resource_name: displayName, required: false }],
  )
}

/** What a vendor says, and what was configured, which is right. Where it says nothing, nothing is known by that. */
function known(said: readonly ModelConfig[], config: VendorConfig): readonly ModelConfig[] {
  return said.length === 0 ? [] : overlaid(said, modelsIn(config))
}

/** What is known of the same model in both, the second being right; then what only the second has. */
export function overlaid(
  models: readonly ModelConfig[],
  over: readonly ModelConfig[],
): readonly ModelConfig[] {
  const better = new Map(over.map((model) => [model.id, model]))
  const known = new Set(models.map(({ id }) => id))
  return [
    ...models.map((model) => ({ ...model, ...better.get(model.id) })),
    ...over.filter(({ id }) => !known.has(id)),
  ]
}

/** An address stands in the state that everyone has, and nobody may be sent one with a login in it. */
function plain(url: string): string {
  return url.replace(/\/+$/, '').replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}
