import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider'
import { anthropicModels, openaiModels } from './model-list.ts'
import { modelsIn } from './config.ts'
import type { CompatibleConfig, ModelConfig, ModelsConfig, ProviderConfig } from './config.ts'
import { listAnthropicModels, listCompatibleModels, listOpenaiModels } from './discover.ts'

/** The options of a request to one provider, as the model library expects them. */
export type ProviderOptions = SharedV3ProviderOptions

/** A service that offers models, and the methods to use it. */
export interface ModelProvider {
  /** The first part of the model ids, before the slash. */
  readonly name: string
  readonly displayName: string
  /** The base URL of the API. It is also the protected resource of the API key: the key is sent only to this address. */
  readonly resource: string
  /** The environment variable that holds the API key. Absent: the provider needs no key. */
  readonly keyVariable?: string
  /** Whether the API accepts images in the results of tools. */
  readonly imageResults?: true
  /** Built-in and configured models. */
  readonly models: readonly ModelConfig[]
  /** Asks the provider for its list of models. */
  listModels(key: string | undefined, signal: AbortSignal): Promise<readonly ModelConfig[]>
  openModel(model: string, key: string | undefined): Promise<LanguageModelV3>
  requestOptions(model: string, effort: string | undefined): ProviderOptions
}

export type Environment = { readonly [name: string]: string | undefined }

export function providersOf(config: ModelsConfig, environment: Environment): readonly ModelProvider[] {
  const { anthropic: anthropicConfig = {}, openai: openaiConfig = {}, compatible: servers = {} } = config
  return [
    ...(anthropicConfig === false ? [] : [anthropic(anthropicConfig, environment)]),
    ...(openaiConfig === false ? [] : [openai(openaiConfig, environment)]),
    ...Object.entries(servers).map(([name, each]) => compatible(name, each)),
  ]
}

function anthropic(config: ProviderConfig, environment: Environment): ModelProvider {
  // Users write the base URL with the API version at its end, or without.
  const root = withoutSecrets(
    config.baseUrl ?? environment['ANTHROPIC_BASE_URL'] ?? 'https://api.anthropic.com',
  )
  const baseURL = /\/v\d+$/.test(root) ? root : `${root}/v1`
  return {
    name: 'anthropic',
    displayName: 'Anthropic',
    resource: root,
    keyVariable: 'ANTHROPIC_API_KEY',
    imageResults: true,
    models: overlay(anthropicModels, modelsIn(config)),
    listModels: async (key, signal) =>
      withConfigured(await listAnthropicModels(baseURL, key, signal), config),
    async openModel(model, key = '') {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ baseURL, apiKey: key, fetch: fetchWithoutRedirect })(model)
    },
    requestOptions: (model, effort) => ({
      anthropic: {
        ...(choosesThinking(model) && { thinking: { type: 'adaptive', display: 'summarized' } }),
        ...(effort !== undefined && { effort }),
      },
    }),
  }
}

/**
 * Whether a Claude model supports adaptive thinking (4.6 and later). With adaptive thinking, earlier reasoning need not be
 * sent back.
 */
function choosesThinking(model: string): boolean {
  const [, major = '0', minor = '0'] = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:-|$)/.exec(model) ?? []
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 6)
}

function openai(config: ProviderConfig, environment: Environment): ModelProvider {
  const baseURL = withoutSecrets(
    config.baseUrl ?? environment['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1',
  )
  return {
    name: 'openai',
    displayName: 'OpenAI',
    resource: baseURL,
    keyVariable: 'OPENAI_API_KEY',
    imageResults: true,
    models: overlay(openaiModels, modelsIn(config)),
    listModels: async (key, signal) => withConfigured(await listOpenaiModels(baseURL, key, signal), config),
    async openModel(model, key = '') {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ baseURL, apiKey: key, fetch: fetchWithoutRedirect }).responses(model)
    },
    // OpenAI need not store the responses, because the host's own log is complete.
    requestOptions: (_, effort) => ({
      openai: {
        store: false,
        ...(effort !== undefined && { reasoningEffort: effort, reasoningSummary: 'auto' }),
      },
    }),
  }
}

function compatible(name: string, config: CompatibleConfig): ModelProvider {
  if (!/^[\w.-]{1,64}$/.test(name) || name === 'anthropic' || name === 'openai')
    throw new Error(
      `models.compatible: ${JSON.stringify(name)} is not a valid name. Use letters, digits, ".", "_" and "-", and not "anthropic" or "openai".`,
    )
  const baseURL = withoutSecrets(config.baseUrl)
  const { apiKeyVariable: keyVariable } = config
  return {
    name,
    displayName: name,
    resource: baseURL,
    ...(keyVariable !== undefined && { keyVariable }),
    models: modelsIn(config),
    listModels: async (key, signal) =>
      withConfigured(await listCompatibleModels(baseURL, key, signal), config),
    async openModel(model, key) {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const settings = {
        name,
        baseURL,
        includeUsage: true,
        fetch: fetchWithoutRedirect,
        ...(key !== undefined && { apiKey: key }),
      }
      return createOpenAICompatible(settings)(model)
    },
    requestOptions: (_, effort) => ({ [name]: { ...(effort !== undefined && { reasoningEffort: effort }) } }),
  }
}

/** Fetches without following redirects. A redirect could send the key to another address. */
const fetchWithoutRedirect: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'error' })

/**
 * Adds the configured models to a provider's list. Configured settings win over listed ones. An empty list stays empty,
 * because it means that the provider gave no list.
 */
function withConfigured(listed: readonly ModelConfig[], config: ProviderConfig): readonly ModelConfig[] {
  return listed.length === 0 ? [] : overlay(listed, modelsIn(config))
}

/** Merges two lists by model id. Settings of the second list win. Models that are only in the second list come last. */
export function overlay(
  models: readonly ModelConfig[],
  over: readonly ModelConfig[],
): readonly ModelConfig[] {
  const overrides = new Map(over.map((model) => [model.id, model]))
  const ids = new Set(models.map(({ id }) => id))
  return [
    ...models.map((model) => ({ ...model, ...overrides.get(model.id) })),
    ...over.filter(({ id }) => !ids.has(id)),
  ]
}

/** Removes a user name, a password, a query and a fragment from a URL, because all clients see the URL in the state. */
function withoutSecrets(url: string): string {
  return url
    .replace(/[?#][^]*$/, '')
    .replace(/\/+$/, '')
    .replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}
