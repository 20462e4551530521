import type { SessionState, ToolDefinition } from '@atrium/protocol/session/state'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { clientSources, offeredTools } from './offered-tools.ts'

/** The tools of these clients, by client id. */
function offered(
  clients: { readonly [clientId: string]: readonly (string | ToolDefinition)[] },
  { names = {}, reserved = [] }: { names?: Record<string, string>; reserved?: readonly string[] } = {},
) {
  const activeClients = Object.entries(clients).map(([clientId, tools]) => ({
    clientId,
    ...(names[clientId] !== undefined && { displayName: names[clientId] }),
    tools: tools.map((tool) => (typeof tool === 'string' ? { name: tool } : tool)),
  }))
  return offeredTools(clientSources({ activeClients } as unknown as SessionState), reserved)
}
const namesOf = (...given: Parameters<typeof offered>) => offered(...given).map(({ name }) => name)

test('[X9.1] a tool keeps its name, and knows its client', () => {
  expect(offered({ ann: ['lint'], ben: ['open'] })).toEqual([
    {
      name: 'lint',
      definition: { name: 'lint' },
      contributor: { kind: 'client', clientId: 'ann' },
      displayName: 'lint',
      asks: false,
    },
    {
      name: 'open',
      definition: { name: 'open' },
      contributor: { kind: 'client', clientId: 'ben' },
      displayName: 'open',
      asks: false,
    },
  ])
})

test('[H19.6] the name of a call of an MCP server begins with the name of the server, whatever the title', () => {
  const contributor = { kind: 'mcp', customizationId: 'm' } as const
  const tools = [
    { name: 'read' },
    { name: 'b', title: 'Read `a`\n\u202e' },
    { name: 'c', annotations: { title: 'MCP good: read' } },
  ]
  const shown = offeredTools([{ contributor, label: 'evil`\u202e', tools }])
  expect(shown.map(({ displayName }) => displayName)).toEqual([
    "MCP evil': read",
    "MCP evil': Read 'a'",
    "MCP evil': MCP good: read",
  ])
})

test('[X9.1] tools with the same name, and with the name of a tool of the agent, get the name of their client', () => {
  const names = { ann: 'Ann’s Editor', ben: 'Ben' }
  expect(namesOf({ ann: ['lint', 'open'], ben: ['lint'] }, { names })).toEqual([
    'Ann_s_Editor_lint',
    'open',
    'Ben_lint',
  ])
  expect(namesOf({ ann: ['run'] }, { reserved: ['run'] })).toEqual(['ann_run'])
  expect(namesOf({ ann: ['run'], ben: ['ann_run'] }, { reserved: ['run'] })).toEqual(['ann_run_2', 'ann_run'])
})

test('[X9.1] clients with the same name get numbers, and one that is left gets its own name back', () => {
  const names = { a: 'Code', b: 'Code', c: 'Code' }
  const tools = { a: ['x'], b: ['x'], c: ['x'] }
  expect(namesOf(tools, { names })).toEqual(['Code_x', 'Code_x_2', 'Code_x_3'])
  expect(namesOf(tools, { names })).toEqual(namesOf(tools, { names }))
  expect(namesOf({ b: ['x'] }, { names })).toEqual(['x'])
})

test('[X9.1] names are valid for every model API, whatever a client calls its tools', () => {
  const strange = [
    '',
    ' ',
    '語',
    'a b',
    'a.b',
    'a/b',
    '__proto__',
    'constructor',
    'x'.repeat(200),
    `${'x'.repeat(200)}y`,
    '😀'.repeat(40),
  ]
  const all = offered({ 'ann\u202e': strange, [`b${'e'.repeat(100)}n`]: strange })
  expect(all).toHaveLength(2 * strange.length)
  for (const { name } of all) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  expect(all.map(({ definition }) => definition.name)).toEqual([...strange, ...strange])
})

test('[X9.1] of two tools of one client with the same name the first is offered', () => {
  const [tool, ...others] = offered({
    ann: [
      { name: 'x', title: 'one' },
      { name: 'x', title: 'two' },
    ],
  })
  expect([tool?.definition.title, others]).toEqual(['one', []])
})

test('[X9.2] the texts of a tool are plain, and values of its schema stay as they are', () => {
  const hidden = 'Find\u200b\u202e files'
  const schema = (text: string) => ({
    type: 'object',
    description: text,
    properties: { description: { type: 'string', title: text, enum: [hidden], default: hidden } },
    anyOf: [{ description: text }],
  })
  const tool = {
    name: 'x',
    title: `${hidden}\n`,
    description: hidden,
    inputSchema: schema(hidden),
    annotations: { title: hidden, readOnlyHint: true },
  }
  expect(offered({ ann: [tool] })[0]?.definition).toEqual({
    name: 'x',
    title: 'Find files',
    description: 'Find files',
    inputSchema: schema('Find files'),
    annotations: { readOnlyHint: true },
  })
})

const described = (length: number) =>
  offered({ ann: [{ name: 'x', description: 'd'.repeat(length) }] })[0]?.definition.description

test('[S-57 toolTextLength] at 4,096 characters a description is whole', () => {
  expect(limits.toolTextLength).toBe(4096)
  expect(described(4096)).toBe('d'.repeat(4096))
})

test('[S-57 toolTextLength] past 4,096 characters the rest of a description is left out', () => {
  expect(described(4097)).toBe(`${'d'.repeat(4095)}…`)
})

const many = (count: number) => offered({ ann: Array.from({ length: count }, (_, n) => `t${n}`) }).length

test('[S-57 offeredTools] at 128 all tools are offered', () => {
  expect(limits.offeredTools).toBe(128)
  expect(many(128)).toBe(128)
})

test('[S-57 offeredTools] past 128 further tools are not offered', () => {
  expect(many(129)).toBe(128)
})

test('[X9.3] a person confirms a tool only if its client says that it is destructive', () => {
  const tools = [
    { name: 'a', annotations: { destructiveHint: true } },
    { name: 'b', annotations: { destructiveHint: false } },
    { name: 'c', annotations: { readOnlyHint: false } },
    { name: 'd' },
  ]
  expect(offered({ ann: tools }).map(({ asks }) => asks)).toEqual([true, false, false, false])
})
