import { afterAll, beforeAll, expect, test } from 'vitest'
import { startModel } from './server.ts'
import type { Model } from './server.ts'

let model: Model
beforeAll(async () => {
  model = await startModel()
})
afterAll(() => model.close())

const schema = {
  type: 'object',
  properties: { file_path: { type: 'string' }, content: { type: 'string' }, mode: { enum: ['new', 'old'] } },
  required: ['file_path', 'content', 'mode'],
}
const script = '[[think:Well.]][[say:I write.]][[write:/a/b.txt|two\\nlines]][[say:Written, ä 👋.]]'
const written = { file_path: '/a/b.txt', content: 'two\nlines', mode: 'new' }

/** Each API: a request with a script and the results so far, and the content of its answers. */
const apis = {
  'chat/completions': {
    path: '/v1/chat/completions',
    body: (done: boolean) => ({
      stream: true,
      tools: [{ type: 'function', function: { name: 'Write', parameters: schema } }],
      messages: [
        { role: 'system', content: '[[say:not me]]' },
        { role: 'user', content: script },
        ...(done ? [{ role: 'tool', tool_call_id: 'c1', content: 'ok' }] : []),
      ],
    }),
    text: ['choices', 0, 'delta', 'content'],
    input: ['choices', 0, 'delta', 'tool_calls', 0, 'function', 'arguments'],
  },
  responses: {
    path: '/v1/responses',
    body: (done: boolean) => ({
      stream: true,
      tools: [{ type: 'function', name: 'write_file', parameters: schema }],
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: script }] },
        ...(done ? [{ type: 'function_call_output', call_id: 'c1', output: 'ok' }] : []),
      ],
    }),
    text: ['delta'],
    input: ['item', 'arguments'],
  },
  messages: {
    path: '/v1/messages',
    body: (done: boolean) => ({
      stream: true,
      tools: [{ name: 'Write', input_schema: schema }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: script }] },
        ...(done
          ? [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] }]
          : []),
      ],
    }),
    text: ['delta', 'text'],
    input: ['delta', 'partial_json'],
  },
  generateContent: {
    path: '/v1beta/models/any:streamGenerateContent',
    body: (done: boolean) => ({
      tools: [{ functionDeclarations: [{ name: 'write_file', parametersJsonSchema: schema }] }],
      contents: [
        { role: 'user', parts: [{ text: script }] },
        // The result is sent twice, as some agents do after a reconnect.
        ...(done ? [answered, answered] : []),
      ],
    }),
    text: ['candidates', 0, 'content', 'parts', 0, 'text'],
    input: ['candidates', 0, 'content', 'parts', 0, 'functionCall', 'args'],
  },
}
const answered = { role: 'user', parts: [{ functionResponse: { id: 'c1', response: { output: 'ok' } } }] }

test.each(Object.entries(apis))(
  '[B40] %s: a call ends an answer, and its result continues the script',
  async (_, api) => {
    const first = await events(api.path, api.body(false))
    const input = first.map((event) => at(event, api.input)).filter((found) => found !== undefined)
    const whole = typeof input.at(-1) === 'object' ? input.at(-1) : fullest(input as string[])
    expect(typeof whole === 'string' ? JSON.parse(whole) : whole).toEqual(written)
    expect(textIn(first, api.text)).toContain('I write.')
    expect(textIn(first, api.text)).not.toContain('Written')
    const second = await events(api.path, api.body(true))
    expect(textIn(second, api.text)).toBe('Written, ä 👋.')
  },
)

test.each(Object.entries(apis))('[B40] %s: the same request gets the same answer', async (_, api) => {
  const texts = [0, 1].map(async () => textIn(await events(api.path, api.body(false)), api.text))
  const [one, other] = await Promise.all(texts)
  expect(one).toBe(other)
})

test('[B40] a request without tools gets a plain text, and an error step sets the status', async () => {
  const { path, body } = apis.messages
  const { tools: _, ...without } = body(false)
  const plain = await post(path, { ...without, stream: false })
  expect(await plain.json()).toMatchObject({ content: [{ type: 'text', text: 'A scripted talk' }] })
  const messages = [{ role: 'user', content: '[[error:429]]' }]
  expect((await post(path, { ...body(false), messages })).status).toBe(429)
  const models = await fetch(`${model.url}/v1/models`)
  expect(await models.json()).toMatchObject({ data: [{ id: 'scripted' }] })
})

test('[B40.1] responses: a search has a type of its own, and the tools that it has found can be called', async () => {
  const multiply = { type: 'function', name: 'multiply', parameters: { type: 'object' } }
  const tools = [{ type: 'tool_search', execution: 'client', parameters: schemaOfSearch }]
  const asked = { role: 'user', content: [{ type: 'input_text', text: '[[tool:multiply|{"a":2}]]' }] }
  const output = async (...input: object[]) => {
    const whole = await post(apis.responses.path, { tools, input: [asked, ...input] })
    return ((await whole.json()) as { output: object[] }).output
  }
  const [search] = await output()
  expect(search).toMatchObject({
    type: 'tool_search_call',
    execution: 'client',
    arguments: { query: 'multiply' },
  })
  const found = { type: 'namespace', name: 'mcp__sums', tools: [multiply] }
  const result = { ...search, type: 'tool_search_output', tools: [found] }
  const call = { type: 'function_call', namespace: 'mcp__sums', name: 'multiply', arguments: '{"a":2}' }
  expect(await output(result)).toMatchObject([call])
  const streamed = await events(apis.responses.path, { stream: true, tools, input: [asked] })
  expect(streamed).toContainEqual(
    expect.objectContaining({ item: { ...search, id: expect.any(String), call_id: expect.any(String) } }),
  )
})

const schemaOfSearch = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }

function post(path: string, body: object): Promise<Response> {
  return fetch(model.url + path, { method: 'POST', body: JSON.stringify(body) })
}

async function events(path: string, body: object): Promise<readonly unknown[]> {
  const text = await (await post(path, body)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'))
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as unknown)
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key],
    value,
  )
}

/**
 * The text of an answer, without thoughts and without the pieces of a call. In one API these pieces have the same place
 * as text.
 */
function textIn(all: readonly unknown[], path: readonly (string | number)[]): string {
  const texts = all.filter((event) => {
    const { type = '' } = event as { type?: string }
    const thought = at(event, ['candidates', 0, 'content', 'parts', 0, 'thought']) === true
    return !thought && !/reasoning|arguments/.test(type)
  })
  return texts
    .map((event) => at(event, path))
    .filter((text) => typeof text === 'string')
    .join('')
}

/** The whole text: the last piece if it is a final event with the whole text, otherwise all pieces joined. */
function fullest(pieces: readonly string[]): string {
  const last = pieces.at(-1) ?? ''
  return last.startsWith('{') ? last : pieces.join('')
}
