/** Which models there are, as somebody configures it. */
export interface ModelsConfig {
  /** `false`: not offered. */
  readonly anthropic?: VendorConfig | false
  readonly openai?: VendorConfig | false
  /** Whoever speaks as OpenAI does (Ollama, vLLM, LM Studio), each by a name of its own. */
  readonly compatible?: { readonly [name: string]: CompatibleConfig }
  /** The id of the model for messages that choose none, as in `anthropic/claude-opus-5-5`. */
  readonly default?: string
}

export interface VendorConfig {
  readonly baseUrl?: string
  /** What is known better here, and what is not known yet. */
  readonly models?: readonly (string | ModelConfig)[]
}

export interface CompatibleConfig extends VendorConfig {
  /** Where its models are, as in `http://localhost:11434/v1`. */
  readonly baseUrl: string
  /** The variable that has its key. Absent: it needs none. */
  readonly apiKeyVariable?: string
}

export interface ModelConfig {
  /** As its vendor calls it. */
  readonly id: string
  readonly name?: string
  /** In tokens. */
  readonly maxContextWindow?: number
  readonly maxOutputTokens?: number
  readonly supportsVision?: boolean
  /** How hard it can be told to think. */
  readonly efforts?: readonly string[]
  readonly price?: Price
}

/** In dollars for a million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Absent: as any input. */
  readonly cacheRead?: number
}

export function modelsIn({ models = [] }: VendorConfig): readonly ModelConfig[] {
  return models.map((model) => (typeof model === 'string' ? { id: model } : model))
}
