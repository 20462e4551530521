import { modelAgent } from '../src/model/model.ts'
import type { ModelsConfig } from '../src/model/provider/config.ts'
import { world } from './model-room.ts'
import { goodKey } from './model-server.ts'
import type { ModelServer } from './model-server.ts'

/** A model provider and its API. One test server offers all three APIs. */
export interface ApiCase {
  readonly model: string
  readonly name: string
  readonly variable: string
  readonly path: string
}
export const apis: readonly ApiCase[] = [
  {
    model: 'anthropic/claude-opus-5-5',
    name: 'Anthropic',
    variable: 'ANTHROPIC_API_KEY',
    path: '/v1/messages',
  },
  { model: 'openai/gpt-5.5', name: 'OpenAI', variable: 'OPENAI_API_KEY', path: '/v1/responses' },
  { model: 'local/llama', name: 'local', variable: 'LOCAL_KEY', path: '/v1/chat/completions' },
]

/** Creates an agent whose providers are a test server. */
export function agentAt(
  server: ModelServer,
  api: ApiCase,
  key: string | undefined = goodKey,
  more: ModelsConfig = {},
) {
  const price = { input: 1, output: 10, cacheRead: 0.1 }
  const settings = { id: api.model.split('/')[1] ?? '', price, efforts: ['low', 'high'] }
  const models: ModelsConfig = {
    anthropic: { models: [settings] },
    openai: { models: [settings] },
    compatible: { local: { baseUrl: `${server.url}/v1/`, apiKeyVariable: 'LOCAL_KEY', models: [settings] } },
    default: api.model,
    ...more,
  }
  const bases = { ANTHROPIC_BASE_URL: server.url, OPENAI_BASE_URL: `${server.url}/v1` }
  const environment = { ...bases, ...(key !== undefined && { [api.variable]: key }) }
  return modelAgent({ models, environment, world, platform: 'test' })
}
