import { expect, test } from 'vitest'
import { memoryFiles } from '../../test/plugins/memory-files.ts'
import { loadPlugin } from './plugins.ts'
import { lenientServer, strictServer } from './servers.ts'

const schema = 'https://agent-plugins.org/schemas/1.0.0/'

test.each([
  [{ command: 'x' }, { command: 'x' }],
  [
    { type: 'stdio', command: '${PLUGIN_ROOT}/x', args: ['a'], env: { A: 'b' }, cwd: '/w', note: 1 },
    { command: '${PLUGIN_ROOT}/x', args: ['a'], env: { A: 'b' }, cwd: '/w' },
  ],
  [{ url: 'http://a.b/mcp' }, { url: 'http://a.b/mcp' }],
  [
    { url: 'https://a.b:1/mcp?x=1', type: 'sse', headers: { Authorization: 'Bearer x' } },
    { url: 'https://a.b:1/mcp?x=1', type: 'sse', headers: { Authorization: 'Bearer x' } },
  ],
  [
    { url: 'https://a', transport: 'streamable-http' },
    { url: 'https://a', type: 'http' },
  ],
])('[K6] the server %j is read', (value, expected) => expect(lenientServer(value)).toEqual(expected))

test.each([
  [7, 'It is not an object.'],
  [{}, 'It has neither a command nor a url.'],
  [{ command: '' }, 'It has neither a command nor a url.'],
  [{ command: 'a\0' }, 'It has neither a command nor a url.'],
  [{ command: 'a', args: 'b' }, 'Its args are not a list of texts.'],
  [{ command: 'a', env: { A: 1 } }, 'Its env is not an object of texts.'],
  [{ command: 'a', cwd: 1 }, 'Its cwd is not a path.'],
  [{ url: 7 }, 'Its url is not a text.'],
  [{ url: 'file:///etc/passwd' }, 'Its url is not an http: or https: address.'],
  [{ url: 'https://a b' }, 'Its url is not an http: or https: address.'],
  [{ url: 'https://a\\@b' }, 'Its url is not an http: or https: address.'],
  [{ url: 'https://user:secret@a' }, 'Its url contains a user.'],
  [{ url: 'https://a', type: 'carrier-pigeon' }, 'The type "carrier-pigeon" is unknown.'],
  [{ url: 'https://a', headers: { A: 'b\r\nC: d' } }, 'Its headers are not an object of texts.'],
])('[K6] the server %j is refused', (value, message) => expect(() => lenientServer(value)).toThrow(message))

test('[K3.2] [K3] the servers of Agent Plugins', () => {
  expect(
    strictServer({ type: 'stdio', command: './bin/x', cwd: './a/../b', args: ['${PLUGIN_DATA}'] }),
  ).toEqual({
    command: './bin/x',
    args: ['${PLUGIN_DATA}'],
    env: {},
    cwd: '${PLUGIN_ROOT}/b',
  })
  expect(strictServer({ type: 'stdio', command: 'x' })).toMatchObject({ cwd: '${PLUGIN_ROOT}' })
  expect(strictServer({ type: 'stdio', command: 'x', cwd: '${PLUGIN_DATA}/y' })).toMatchObject({
    cwd: '${PLUGIN_DATA}/y',
  })
  expect(strictServer({ type: 'sse', url: 'https://a/x' })).toEqual({ type: 'sse', url: 'https://a/x' })
  for (const url of ['http://localhost:80/', 'http://127.0.0.1', 'http://[::1]:9/x'])
    expect(strictServer({ type: 'streamable-http', url })).toEqual({ type: 'http', url })
})

test.each([
  [{ command: 'x' }, 'Its type must be stdio, streamable-http or sse.'],
  [{ type: 'stdio', command: 'x', note: 1 }, 'The field note is not allowed.'],
  [{ type: 'stdio', command: 'x y' }, 'Its command must be the name of a program'],
  [{ type: 'stdio', command: '${PLUGIN_ROOT}/x' }, 'Its command must be the name of a program'],
  [{ type: 'stdio', command: '/bin/sh' }, 'Its command must be the name of a program'],
  [{ type: 'stdio', command: './../x' }, 'leads out of the plugin'],
  [{ type: 'stdio', command: './a b' }, 'Its command must be one word.'],
  [{ type: 'stdio', command: 'x', env: { PLUGIN_ROOT: '/' } }, 'Its env may not set PLUGIN_ROOT.'],
  [{ type: 'stdio', command: 'x', cwd: '/' }, 'Its cwd must begin with'],
  [{ type: 'stdio', command: 'x', cwd: '${PLUGIN_DATA}/../..' }, 'leads out of the plugin'],
  [{ type: 'sse', url: 'http://a' }, 'Its url must begin with https:.'],
  [{ type: 'sse', url: 'http://localhost.evil.com' }, 'Its url must begin with https:.'],
  [{ type: 'sse', url: 'https://a/#b' }, 'Its url is not an http: or https: address.'],
])('[K3.2] [K3] the server %j is not allowed in Agent Plugins', (value, message) =>
  expect(() => strictServer(value)).toThrow(message),
)

const messages = (plugin: Awaited<ReturnType<typeof loadPlugin>>) =>
  plugin.problems.map(({ message }) => message)

test('[K3.3] [K3] a bad file turns off the servers of a plugin, and nothing else', async () => {
  const manifest = { $schema: `${schema}plugin.schema.json`, name: 'p' }
  const load = (mcp: object) =>
    loadPlugin(memoryFiles({ 'plugin.json': manifest, 'skills/a/SKILL.md': 'A', 'mcp.json': mcp }))
  for (const bad of [{}, { mcpServers: {} }, { $schema: `${schema}mcp.schema.json`, mcpServers: [] }])
    expect(await load(bad)).toMatchObject({ load: { kind: 'degraded' }, components: [{ kind: 'skill' }] })
  const mcpServers = { good: { type: 'stdio', command: 'x' }, bad: { type: 'stdio' } }
  const mixed = await load({ $schema: `${schema}mcp.schema.json`, mcpServers })
  expect(mixed.components.map(({ child }) => child.name)).toEqual(['a', 'good'])
  expect(messages(mixed)).toEqual(['The server bad: It has neither a command nor a url.'])
})

test('[K6] of two servers with one name the first counts, and a bad one is left out alone', async () => {
  const text =
    '{"mcpServers": {"a": {"command": "1"}, "b": 7, "a": {"command": "2"}, "c\\u202e": {"command": "3"}}}'
  const plugin = await loadPlugin(memoryFiles({ '.mcp.json': text }))
  expect(plugin.components).toMatchObject([{ child: { name: 'a' }, server: { command: '1' } }])
  expect(messages(plugin)).toEqual([
    'The server b: It is not an object.',
    'It is left out, because there is another MCP server a.',
    'The server c\\u{202e}: Its name has a hidden character: c\\u{202e}',
  ])
  const flat = await loadPlugin(memoryFiles({ '.mcp.json': { a: { command: '1' } } }))
  expect(flat.components).toHaveLength(1)
  for (const bad of [{ mcpServers: 7 }, { a: 'b' }, { mcpServers: [], a: {} }])
    expect(messages(await loadPlugin(memoryFiles({ '.mcp.json': bad })))).toEqual([
      'It has no object mcpServers.',
    ])
})
