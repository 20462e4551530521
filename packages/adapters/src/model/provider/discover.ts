import { compact } from '@atrium/protocol/update'
import type { ModelConfig } from './config.ts'
import { anthropicModels, openaiModels } from './model-list.ts'

/** More than any list of models has. Whoever says more is not believed. */
const most = { bytes: 4 * 1024 * 1024, models: 1000, idLength: 200 }

type Headers = { readonly [name: string]: string }
type Bag = { readonly [key: string]: unknown }

/** Which models Anthropic has for a key. */
export async function askAnthropic(
  baseUrl: string,
  key: string | undefined,
  signal: AbortSignal,
): Promise<readonly ModelConfig[]> {
  if (key === undefined) return []
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  return known(await listed(`${baseUrl}/models?limit=1000`, headers, signal), anthropicModels)
}

/** Which models OpenAI has for a key: those that can be talked to. */
export async function askOpenai(
  baseUrl: string,
  key: string | undefined,
  signal: AbortSignal,
): Promise<readonly ModelConfig[]> {
  if (key === undefined) return []
  const all = await listed(`${baseUrl}/models`, bearer(key), signal)
  return known(
    all.filter(({ id }) => talks.test(id) && !others.test(id)),
    openaiModels,
  )
}

const talks = /^(?:gpt-[4-9]|o\d)/
const others = /audio|realtime|image|tts|transcribe|search|embedding|moderation|instruct/

export async function askCompatible(
  baseUrl: string,
  key: string | undefined,
  signal: AbortSignal,
): Promise<readonly ModelConfig[]> {
  return listed(`${baseUrl}/models`, bearer(key), signal)
}

function bearer(key: string | undefined): Headers {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

/** What a catalogue knows of those that were listed; its own order first. */
function known(models: readonly ModelConfig[], catalogue: readonly ModelConfig[]): readonly ModelConfig[] {
  const listing = new Map(models.map((model) => [model.id, model]))
  const own = catalogue.flatMap((model) => {
    const found = listing.get(model.id)
    listing.delete(model.id)
    return found ? [{ ...model, ...found }] : []
  })
  return [...own, ...listing.values()]
}

async function listed(url: string, headers: Headers, signal: AbortSignal): Promise<readonly ModelConfig[]> {
  const response = await fetch(url, { headers, signal, redirect: 'error' })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new Error(`${response.status}`)
  }
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body) {
    length += part.length
    if (length > most.bytes) throw new Error('the list of models is too long')
    parts.push(part)
  }
  const { data } = JSON.parse(Buffer.concat(parts).toString()) as { readonly data?: unknown }
  return Array.isArray(data) ? data.slice(0, most.models).flatMap(modelIn) : []
}

/** Of what is said of a model, what has its shape. */
function modelIn(said: unknown): readonly ModelConfig[] {
  const { id, display_name: name, ...rest } = (said ?? {}) as Bag
  if (typeof id !== 'string' || id === '' || id.length > most.idLength) return []
  const window = [rest['max_input_tokens'], rest['max_model_len'], rest['context_length']].find(isCount)
  const output = [rest['max_tokens'], rest['max_output_tokens']].find(isCount)
  return [
    compact<ModelConfig>({
      id,
      name: typeof name === 'string' && name.length <= most.idLength ? name : undefined,
      maxContextWindow: window,
      maxOutputTokens: output,
    }),
  ]
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1024
}
