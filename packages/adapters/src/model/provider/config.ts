/** The configured providers and models: the section `models` of the configuration file. */
export interface ModelsConfig {
  /** `false`: the provider is not offered. */
  readonly anthropic?: ProviderConfig | false
  readonly openai?: ProviderConfig | false
  /** OpenAI-compatible servers (Ollama, vLLM, LM Studio), by name. */
  readonly compatible?: { readonly [name: string]: CompatibleConfig }
  /** The id of the model that answers messages without a model, for example `anthropic/claude-opus-5-5`. */
  readonly default?: string
}

export interface ProviderConfig {
  readonly baseUrl?: string
  /** Models to add to the provider's list. A model that is already listed gets these settings. */
  readonly models?: readonly (string | ModelConfig)[]
}

export interface CompatibleConfig extends ProviderConfig {
  /** Base URL of the API, for example `http://localhost:11434/v1`. */
  readonly baseUrl: string
  /** Name of the environment variable with the API key. Absent: the server needs no key. */
  readonly apiKeyVariable?: string
}

export interface ModelConfig {
  /** The id that the provider uses for the model. */
  readonly id: string
  readonly name?: string
  /** Context window in tokens. */
  readonly maxContextWindow?: number
  /** Maximum length of an answer in tokens. */
  readonly maxOutputTokens?: number
  readonly supportsVision?: boolean
  /** Reasoning efforts that the model accepts. */
  readonly efforts?: readonly string[]
  readonly price?: Price
}

/** Price in dollars for a million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Price of input tokens read from the cache. Absent: the same as `input`. */
  readonly cacheRead?: number
  /** Price of input tokens written to the cache. Absent: the same as `input`. */
  readonly cacheWrite?: number
}

export function modelsIn({ models = [] }: ProviderConfig): readonly ModelConfig[] {
  return models.map((model) => (typeof model === 'string' ? { id: model } : model))
}
