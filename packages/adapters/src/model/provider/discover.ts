import { isJsonObject } from '@atrium/protocol/json'
import { compact } from '@atrium/protocol/update'
import type { ModelConfig, Price } from './config.ts'
import { anthropicModels, openaiModels } from './model-list.ts'

/** Limits for a provider's list of models. Real lists are far smaller. */
const maximum = { bytes: 4 * 1024 * 1024, models: 1000, idLength: 200 }

type Headers = { readonly [name: string]: string }

/** Lists the models of Anthropic that a key may use. */
export async function listAnthropicModels(
  baseUrl: string,
  key: string | undefined,
  signal: AbortSignal,
): Promise<readonly ModelConfig[]> {
  if (key === undefined) return []
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  return withCatalogue(await fetchModels(`${baseUrl}/models?limit=1000`, headers, signal), anthropicModels)
}

/** Lists the chat models of OpenAI that a key may use. */
export async function listOpenaiModels(
  baseUrl: string,
  key: string | undefined,
  signal: AbortSignal,
): Promise<readonly ModelConfig[]> {
  if (key === undefined) return []
  const all = await fetchModels(`${baseUrl}/models`, bearer(key), signal)
  return withCatalogue(
    all.filter(({ id }) => chatModels.test(id) && !otherModels.test(id)),
    openaiModels,
  )
}

/** Ids of model families that can chat. The pattern is needed because OpenAI's list does not tell what a model is for. */
const chatModels = /^(?:gpt-[4-9]|o\d)/
/** Ids of models in those families that cannot chat. */
const otherModels = /audio|realtime|image|tts|transcribe|search|embedding|moderation|instruct/

export async function listCompatibleModels(
  baseUrl: string,
  key: string | undefined,
  signal: AbortSignal,
): Promise<readonly ModelConfig[]> {
  return fetchModels(`${baseUrl}/models`, bearer(key), signal)
}

function bearer(key: string | undefined): Headers {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

/**
 * Adds the built-in settings to listed models. Models of the built-in catalogue come first, in the order of the catalogue.
 */
function withCatalogue(
  models: readonly ModelConfig[],
  catalogue: readonly ModelConfig[],
): readonly ModelConfig[] {
  const remaining = new Map(models.map((model) => [model.id, model]))
  const inCatalogue = catalogue.flatMap((model) => {
    const found = remaining.get(model.id)
    remaining.delete(model.id)
    return found ? [{ ...model, ...found }] : []
  })
  return [...inCatalogue, ...remaining.values()]
}

async function fetchModels(
  url: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<readonly ModelConfig[]> {
  const response = await fetch(url, { headers, signal, redirect: 'error' })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new Error(`status ${response.status}`)
  }
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body) {
    length += part.length
    if (length > maximum.bytes) throw new Error('the list of models is too long')
    parts.push(part)
  }
  const list: unknown = JSON.parse(Buffer.concat(parts).toString())
  if (!isJsonObject(list)) throw new Error('the list of models is not an object')
  const { data } = list
  return Array.isArray(data) ? data.slice(0, maximum.models).flatMap(parseModel) : []
}

/** Reads one entry of a list. An entry without an id is left out. Fields of a wrong type are ignored. */
function parseModel(entry: unknown): readonly ModelConfig[] {
  if (!isJsonObject(entry)) return []
  const { id, display_name: name, ...rest } = entry
  if (typeof id !== 'string' || id === '' || id.length > maximum.idLength) return []
  const contextWindow = [rest['max_input_tokens'], rest['max_model_len'], rest['context_length']].find(
    isCount,
  )
  const output = [rest['max_tokens'], rest['max_output_tokens']].find(isCount)
  return [
    compact<ModelConfig>({
      id,
      name: typeof name === 'string' && name.length <= maximum.idLength ? name : undefined,
      maxContextWindow: contextWindow,
      maxOutputTokens: output,
      price: parsePrice(rest['pricing']),
    }),
  ]
}

/**
 * Reads the price of a model as OpenRouter lists it: dollars for one token, as texts. A negative price stands for one that
 * varies, and counts as unknown.
 */
function parsePrice(pricing: unknown): Price | undefined {
  if (!isJsonObject(pricing)) return undefined
  const perMillion = (name: string) => {
    const listed = pricing[name]
    const dollars = typeof listed === 'string' && listed.trim() !== '' ? Number(listed) : Number.NaN
    // A token costs far less than a dollar. A larger number has another unit.
    return dollars >= 0 && dollars < 1 ? Math.round(dollars * 1e12) / 1e6 : undefined
  }
  const [input, output] = [perMillion('prompt'), perMillion('completion')]
  if (input === undefined || output === undefined) return undefined
  return compact<Price>({
    input,
    output,
    cacheRead: perMillion('input_cache_read'),
    cacheWrite: perMillion('input_cache_write'),
  })
}

/** Whether a value can be a number of tokens. Numbers below 1024 are placeholders. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1024
}
