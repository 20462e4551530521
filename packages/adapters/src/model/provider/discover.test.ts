import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { goodKey, modelServer } from '../../../test/model-server.ts'
import { world } from '../../../test/model-room.ts'
import { HostlessChat } from '../../../../host/test/hostless-chat.ts'
import { modelAgent } from '../model.ts'
import type { ModelsConfig } from './config.ts'

const ids = ({ info }: ReturnType<typeof modelAgent>) => info.models.map(({ id }) => id)

test('[N20.2] [N20.3] [N20] without a key the built-in models are listed as unconfigured', () => {
  const agent = modelAgent({ world })
  expect(agent.info).toMatchObject({
    provider: 'atrium',
    displayName: 'Atrium Agent (needs a key)',
    description: expect.stringMatching(
      /set ANTHROPIC_API_KEY or OPENAI_API_KEY where the host runs, or sign in\.$/,
    ),
  })
  const { info } = modelAgent({ world, environment: { OPENAI_API_KEY: 'k' } })
  expect(info).toMatchObject({ displayName: 'Atrium Agent', description: expect.not.stringContaining('key') })
  expect(ids(agent)).toEqual(expect.arrayContaining(['anthropic/claude-opus-5-5', 'openai/gpt-5.5']))
  expect(new Set(agent.info.models.map(({ policyState }) => policyState))).toEqual(new Set(['unconfigured']))
  for (const model of agent.info.models)
    expect(model).toMatchObject({
      maxContextWindow: expect.any(Number),
      maxOutputTokens: expect.any(Number),
      supportsVision: true,
    })
  expect(agent.info.models[0]?.configSchema?.properties['effort']?.enum).toContain('high')
  expect(agent.info.protectedResources).toEqual([
    { resource: 'https://api.anthropic.com', resource_name: 'Anthropic', required: false },
    { resource: 'https://api.openai.com/v1', resource_name: 'OpenAI', required: false },
  ])
  expect(ids(modelAgent({ world, models: { anthropic: false, openai: false } }))).toEqual([])
})

test('[N20] a provider that did not answer is not asked again for 30 s, so that creating a session does not wait', async () => {
  let requests = 0
  const server = createServer(() => void requests++).listen(0, '127.0.0.1')
  onTestFinished(() => (server.closeAllConnections(), void server.close()))
  await new Promise((resolve) => server.once('listening', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  let now = 0
  const models = { anthropic: false, openai: false, compatible: { slow: { baseUrl } } } as const
  const agent = modelAgent({ world: { ...world, now: () => now }, models })
  await agent.probe?.()
  now += 29_000
  await agent.probe?.()
  expect(requests).toBe(1)
  now += 2000
  await agent.probe?.()
  expect(requests).toBe(2)
}, 20_000)

test('[N20.3] [N20] the list of a provider is used; configured settings win, and invalid entries are left out', async () => {
  const server = await modelServer()
  server.models = [
    { id: 'claude-opus-5-5', display_name: 'Opus', max_input_tokens: 1_000_000 },
    { id: 'gpt-7', max_model_len: 5 },
    { id: 'gpt-image-9' },
    { id: '' },
    { id: 7 },
    null,
    'x',
  ]
  const models: ModelsConfig = {
    compatible: {
      local: {
        baseUrl: `${server.url}/v1`,
        apiKeyVariable: 'LOCAL_KEY',
        models: [{ id: 'gpt-7', name: 'Mine' }, 'own'],
      },
    },
  }
  const environment = {
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_BASE_URL: `${server.url}/v1`,
    ANTHROPIC_API_KEY: goodKey,
    OPENAI_API_KEY: goodKey,
    LOCAL_KEY: goodKey,
  }
  const agent = modelAgent({ world, models, environment })
  await agent.probe?.()
  const modelsOf = (provider: string) => agent.info.models.filter(({ id }) => id.startsWith(`${provider}/`))
  expect(modelsOf('anthropic')[0]).toMatchObject({
    name: 'Opus',
    maxContextWindow: 1_000_000,
    maxOutputTokens: 128_000,
    policyState: 'enabled',
  })
  expect(modelsOf('openai').map(({ id }) => id)).toEqual(['openai/gpt-7'])
  expect(modelsOf('local').map(({ id, name }) => [id, name])).toEqual([
    ['local/claude-opus-5-5', 'Opus'],
    ['local/gpt-7', 'Mine'],
    ['local/gpt-image-9', 'gpt-image-9'],
    ['local/own', 'own'],
  ])
  await agent.probe?.()
  expect(server.listKeys).toEqual([goodKey, goodKey, goodKey])
})

test('[N20.1] [N20] a user name, a password and a query in a base URL are not in the state', () => {
  const environment = {
    ANTHROPIC_BASE_URL: 'https://me:hush@proxy.example/claude/',
    OPENAI_BASE_URL: 'http://hush@proxy.example:8080/v1/?key=hush',
  }
  const { info } = modelAgent({ world, environment })
  expect(info.protectedResources?.map(({ resource }) => resource)).toEqual([
    'https://proxy.example/claude',
    'http://proxy.example:8080/v1',
  ])
  expect(JSON.stringify(info)).not.toContain('hush')
})

test.each([
  ['does not answer', () => {}],
  ['sends too much', (write: (text: string) => boolean) => void write('x'.repeat(5 * 1024 * 1024))],
  ['sends no JSON', (write: (text: string) => boolean, end: () => void) => (write('<html>'), end())],
])('[N20.3] [N20] a provider that %s is not waited for: the configured models stay', async (_, respond) => {
  const server = createServer((__, response) =>
    respond(
      (text) => response.write(text),
      () => response.end(),
    ),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const compatible = { local: { baseUrl: `http://127.0.0.1:${port}/v1`, models: ['own'] } }
  const agent = modelAgent({ world, models: { anthropic: false, openai: false, compatible } })
  await agent.probe?.()
  expect(ids(agent)).toEqual(['local/own'])
  expect(agent.info).not.toHaveProperty('protectedResources.0')
})

test('[N20] an unknown model and an ambiguous provider name are refused with a message', async () => {
  const run = new HostlessChat(modelAgent({ world })).begin({ text: 'hello', model: { id: 'nobody/x' } })
  await run.end()
  expect(run.failure).toMatchObject({
    name: 'TurnFailed',
    message: expect.stringContaining('Model "nobody/x" does not exist'),
  })
  const none = new HostlessChat(modelAgent({ world, models: { anthropic: false, openai: false } })).begin(
    'hello',
  )
  await none.end()
  expect(none.failure).toMatchObject({ message: expect.stringContaining('No model is configured') })
  for (const name of ['openai', 'a/b', ''])
    expect(() => modelAgent({ world, models: { compatible: { [name]: { baseUrl: 'http://x' } } } })).toThrow(
      'is not a valid name',
    )
})

/** A module hook that prints the name of each module when Node loads it. */
const hooks = `import { writeSync } from 'node:fs'
export async function resolve(name, context, next) {
  writeSync(1, name + '\\n')
  return next(name, context)
}`
const preload = `import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))`

test('[N20] the model library is loaded by the first turn, and not before', () => {
  const path = fileURLToPath(new URL('../../../dist/model/model.js', import.meta.url))
  const program = `
    const { modelAgent } = await import(${JSON.stringify(path)})
    const compatible = { local: { baseUrl: 'http://127.0.0.1:9/v1', models: ['own'] } }
    const agent = modelAgent({ world: { now: Date.now, later: () => () => {} }, models: { compatible, default: 'local/own' } })
    await agent.probe()
    console.log('a turn')
    const chat = { turnId: 't', state: { turns: [], activeTurn: { id: 't', message: { text: '' }, responseParts: [] } }, token: () => undefined }
    await agent.run(chat, new AbortController().signal)[Symbol.asyncIterator]().next().catch(() => {})`
  const data = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`
  const output = execFileSync(process.execPath, [
    '--import',
    data(preload),
    '--input-type=module',
    '-e',
    program,
  ])
  const [before = '', after = ''] = String(output).split('a turn\n')
  const libraries = (names: string) => names.split('\n').filter((name) => /^(?:ai|@ai-sdk\/.*)$/.test(name))
  expect(before).toContain('model/model')
  expect([libraries(before), libraries(after)[0]]).toEqual([[], '@ai-sdk/openai-compatible'])
})
