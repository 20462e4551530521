import { expect, test } from 'vitest'
import type { Contents } from '../../test/plugins/folder.ts'
import { memoryFiles } from '../../test/plugins/memory-files.ts'
import { loadPlugin } from './plugins.ts'

const files: Contents = {
  'skills/usual/SKILL.md': 'U',
  'more/extra/SKILL.md': 'E',
  'one/SKILL.md': 'O',
  'docs/deploy.md': 'D',
  'config/servers.json': { mcpServers: { files: { command: 'f' } } },
  'config/hooks.json': { hooks: { Stop: [{ command: 'h' }] } },
}

async function load(manifest: object | string, contents: Contents = files) {
  const plugin = await loadPlugin(memoryFiles({ ...contents, '.plugin/plugin.json': manifest }))
  const { components, problems, load: state } = plugin
  const names = components.map(({ kind, child }) => `${kind} ${child.name}`)
  return { names, problems: problems.map(({ path, message }) => `${path}: ${message}`), state, plugin }
}

test.each([
  ['./more', ['usual', 'extra']],
  ['more/', ['usual', 'extra']],
  [
    ['./more', './one'],
    ['usual', 'extra', 'one'],
  ],
  [{ paths: ['./more'] }, ['usual', 'extra']],
  [{ paths: ['./more'], exclusive: true }, ['extra']],
  [{ paths: [], exclusive: true }, []],
  ['./a/../one', ['usual', 'one']],
  ['./one/SKILL.md', ['usual', 'one']],
  [['./skills', './skills/'], ['usual']],
  [null, ['usual']],
])('[K2.1] [K2] the skills %j are added to the usual ones, or replace them', async (skills, expected) => {
  const { names, problems } = await load({ name: 'p', skills })
  expect(names).toEqual(expected.map((name) => `skill ${name}`))
  expect(problems).toEqual([])
})

test('[K2.1] [K2] each field of a manifest says where its components are', async () => {
  const manifest = {
    name: 'p',
    commands: './docs',
    mcpServers: './config/servers.json',
    hooks: './config/hooks.json',
  }
  const { names, problems } = await load(manifest)
  expect(names).toEqual(['skill usual', 'prompt deploy', 'hook hooks', 'mcpServer files'])
  expect(problems).toEqual([])
  const folder = await load({ name: 'p', commands: './docs/deploy.md', hooks: ['./config'] })
  expect(folder.names).toEqual(['skill usual', 'prompt deploy', 'hook hooks'])
})

test('[K2.3] [K2] hooks and servers may stand in the manifest, and have their place in it', async () => {
  const text = `{
  "name": "p", // mine
  "hooks": {"Stop": [{"command": "h"}]},
  "mcpServers": {"mcpServers": {"a": {"command": "x"},
    "b": {"url": "https://example.com/mcp"}}},
}`
  const { names, problems, plugin } = await load(text)
  expect(names).toEqual(['skill usual', 'hook hooks', 'mcpServer a', 'mcpServer b'])
  expect(problems).toEqual([])
  const uri = 'plugin:/mine/.plugin/plugin.json'
  expect(
    plugin.components.slice(1).map(({ child: { id, range } }) => [id, range?.start, range?.end.line]),
  ).toEqual([
    [uri, { line: 2, character: 2 }, 2],
    [`${uri}#mcp=a`, { line: 3, character: 32 }, 3],
    [`${uri}#mcp=b`, { line: 4, character: 4 }, 4],
  ])
  const flat = await load({ name: 'p', mcpServers: { a: { command: 'x' } } })
  expect(flat.names).toEqual(['skill usual', 'mcpServer a'])
})

test.each([
  ['../other', 'The path ../other leads out of the plugin.'],
  ['./a/../../other', 'The path ./a/../../other leads out of the plugin.'],
  ['/etc', 'The path /etc is not relative to the plugin, with / between its names.'],
  ['~/x', 'The path ~/x is not relative to the plugin, with / between its names.'],
  ['C:/x', 'The path C:/x is not relative to the plugin, with / between its names.'],
  ['a\\b', 'The path a\\b is not relative to the plugin, with / between its names.'],
  ['a\0b', 'The path a\\u{0}b has a hidden character.'],
  ['./none', 'The field skills names ./none, which does not exist.'],
  ['${PLUGIN_ROOT}/more', 'The field skills names ${PLUGIN_ROOT}/more, which does not exist.'],
  [7, 'The field skills is neither a path, nor a list of paths, nor an object that is understood.'],
  [
    { path: './more' },
    'The field skills is neither a path, nor a list of paths, nor an object that is understood.',
  ],
  [
    ['./more', 7],
    'The field skills is neither a path, nor a list of paths, nor an object that is understood.',
  ],
])(
  '[K2.2] [K2] the skills %j are a problem of the manifest, and nothing else fails',
  async (skills, message) => {
    const { names, problems, state } = await load({ name: 'p', skills })
    expect(names).toEqual(['skill usual'])
    expect(problems).toEqual([`.plugin/plugin.json: ${message}`])
    expect(state).toEqual({ kind: 'degraded', message: `.plugin/plugin.json: ${message}` })
  },
)

test.each(['{', '[]', '"x"', '\xff'])(
  '[K2.4] [K2] with the manifest %j the usual places are read',
  async (text) => {
    const { names, problems, plugin } = await load(
      text === '\xff' ? (Uint8Array.of(0xff) as unknown as string) : text,
    )
    expect(names).toEqual(['skill usual'])
    expect(problems).toHaveLength(1)
    expect(plugin).toMatchObject({ name: 'mine', load: { kind: 'degraded' } })
  },
)

test.each([undefined, '', 'Upper', 'a--b', 'a..b', '-a', 'a-', 'a b', 'x'.repeat(65), 7, '\u202ea'])(
  '[K2.4] [K2] the name %j is refused, and that of the folder is used',
  async (name) => {
    const { problems, plugin } = await load({ name })
    expect(plugin.name).toBe('mine')
    expect(problems).toEqual([expect.stringContaining('must be at most 64 letters a-z')])
  },
)

test('[K2.5] [K2] a folder without a manifest is a plugin; one without components is not', async () => {
  expect(await loadPlugin(memoryFiles({ 'skills/a/SKILL.md': 'A' }))).toMatchObject({
    name: 'mine',
    load: { kind: 'loaded' },
  })
  const nothing = 'It has no skills, agents, commands, rules, hooks or MCP servers.'
  expect((await loadPlugin(memoryFiles({}))).load).toEqual({ kind: 'error', message: nothing })
  expect((await loadPlugin(memoryFiles({ 'README.md': 'x' }))).load).toEqual({
    kind: 'error',
    message: nothing,
  })
  expect((await load({ name: 'p' }, {})).state).toEqual({ kind: 'degraded', message: nothing })
})

const $schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
const strictFiles: Contents = { 'skills/a/SKILL.md': 'A', 'commands/b.md': 'B' }
const loadStrict = (manifest: object | string) =>
  loadPlugin(memoryFiles({ ...strictFiles, 'plugin.json': manifest }))

test('[K3.1] [K3] unknown fields and odd extensions of Agent Plugins are reported and ignored', async () => {
  const author = { name: 'A', email: 'a@b', url: 'https://a' }
  const whole = {
    $schema,
    name: 'p',
    version: '1',
    author,
    keywords: ['k'],
    license: 'MIT',
    extensions: { 'a.b': {} },
  }
  expect(await loadStrict(whole)).toMatchObject({ format: 'agent', load: { kind: 'loaded' }, problems: [] })
  const odd = await loadStrict({ ...whole, extensions: 7, skills: './commands', 'x\u0007': 1 })
  expect(odd.components.map(({ child }) => child.name)).toEqual(['a'])
  expect(odd.problems.map(({ message }) => message)).toEqual([
    'The field skills is unknown, and is ignored.',
    'The field x\\u{7} is unknown, and is ignored.',
    'The field extensions is not an object of objects, and is ignored.',
  ])
})

test.each([
  [{ $schema }, 'The field name must be'],
  [{ $schema, name: 'A' }, 'The field name must be'],
  [{ $schema: $schema.replace('1.0.0', '1.1.0'), name: 'p' }, 'version 1.0.0 of Agent Plugins'],
  [{ $schema, name: 'p', version: 1 }, 'The field version has a value that Agent Plugins does not allow.'],
  [{ $schema, name: 'p', author: { nick: 'x' } }, 'The field author has a value'],
  [{ $schema, name: 'p', keywords: 'x' }, 'The field keywords has a value'],
  [`{"$schema": "${$schema}", "name": "p",}`, 'It is not valid JSON.'],
])('[K3.1] [K3] the manifest %j rejects the whole plugin', async (manifest, message) => {
  const plugin = await loadStrict(manifest)
  expect(plugin).toMatchObject({ format: 'agent', components: [], load: { kind: 'error' } })
  expect(plugin.load).toMatchObject({ message: expect.stringContaining(message) as unknown })
})
