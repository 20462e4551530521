import type { LanguageModelV3Usage } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { agentRoom, world } from '../../../test/model-room.ts'
import { modelServer } from '../../../test/model-server.ts'
import type { ModelServer } from '../../../test/model-server.ts'
import { modelAgent } from '../model.ts'
import { addUsage } from '../usage.ts'
import type { ModelConfig } from './config.ts'

/** Runs a turn on an OpenAI-compatible server, and returns its usage. A request has 100 tokens in, 40 cached, and 7 out. */
async function usageOf(server: ModelServer, settings: Partial<ModelConfig> = {}) {
  server.open = true
  const compatible = { local: { baseUrl: `${server.url}/v1`, models: [{ id: 'llama', ...settings }] } }
  const models = { anthropic: false, openai: false, compatible, default: 'local/llama' } as const
  const agent = modelAgent({ models, world, platform: 'test' })
  await agent.probe?.()
  const { turn } = await agentRoom(agent, { 'a.txt': '' })
  return (await turn('call list {} ; say hello')).usage
}

const costIn = (usage: { readonly _meta?: { readonly [key: string]: unknown } } | undefined) =>
  (usage?._meta?.['x-atrium'] as { readonly cost?: number } | undefined)?.cost

test('[N20.5] [N20] without any price the usage has tokens, and no cost', async () => {
  const usage = await usageOf(await modelServer())
  expect(usage).toMatchObject({ inputTokens: 200, outputTokens: 14, cacheReadTokens: 80 })
  expect(usage?._meta).toEqual({ 'x-atrium': { context: 107, done: true } })
})

test('[N20.5] [N20] the cost that a provider reports wins over the configured price', async () => {
  const server = await modelServer()
  server.usage = { cost: 0.25 }
  expect(costIn(await usageOf(server, { price: { input: 1, output: 10 } }))).toBe(0.5)
  server.usage = { cost: { currency: 'USD', total_cost: 0.125 } }
  expect(costIn(await usageOf(server))).toBe(0.25)
})

test.each([-1, '0.5', null, true, {}, { total_cost: 'x' }, [0.5]])(
  '[N20] a reported cost of %j is none',
  async (cost) => {
    const server = await modelServer()
    server.usage = { cost }
    expect(costIn(await usageOf(server))).toBeUndefined()
    expect(costIn(await usageOf(server, { price: { input: 1, output: 10, cacheRead: 0.1 } }))).toBe(0.000268)
  },
)

test('[N20.5] [N20] the price in a list of models is used, and the configured price wins over it', async () => {
  const server = await modelServer()
  const pricing = { prompt: '0.000001', completion: '0.00001', input_cache_read: '0.0000001' }
  server.models = [{ id: 'llama', pricing }]
  expect(costIn(await usageOf(server))).toBe(0.000268)
  expect(costIn(await usageOf(server, { price: { input: 100, output: 0 } }))).toBe(0.02)
  server.models = [{ id: 'llama', pricing: { prompt: '0', completion: '0' } }]
  expect(costIn(await usageOf(server))).toBe(0)
})

test.each([
  null,
  'cheap',
  {},
  { prompt: '0.000001' },
  { prompt: '-1', completion: '-1' },
  { prompt: '', completion: '' },
  { prompt: 'x', completion: 'NaN' },
  { prompt: 'Infinity', completion: '0' },
  { prompt: 0.000001, completion: 0.00001 },
  { prompt: '3.5', completion: '15' },
])('[N20] the listed price %j is none', async (pricing) => {
  const server = await modelServer()
  server.models = [{ id: 'llama', pricing }]
  expect(costIn(await usageOf(server))).toBeUndefined()
})

test('[N20] tokens written to the cache have their own price, and a request without usage has no cost', () => {
  const request = (input: number | undefined, output: number | undefined): LanguageModelV3Usage => ({
    inputTokens: { total: input, noCache: undefined, cacheRead: 10, cacheWrite: 20 },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  })
  const price = { input: 100, output: 1000, cacheRead: 10, cacheWrite: 125 }
  const cost = (usage: LanguageModelV3Usage | undefined, known = price) =>
    costIn(addUsage(undefined, usage, { model: 'm', price: known, done: false }).usage)
  expect(cost(request(100, 1))).toBe(0.0106)
  expect(cost(request(100, 1), { input: 100, output: 1000 } as typeof price)).toBe(0.011)
  expect(cost(undefined)).toBeUndefined()
  expect(cost(request(100, undefined))).toBeUndefined()
  expect(cost(request(undefined, 1))).toBeUndefined()
})
