import { fileUri } from '@atrium/protocol/file-uri'
import { expect, test } from 'vitest'
import { folder } from '../../test/plugins/folder.ts'
import type { Contents } from '../../test/plugins/folder.ts'
import type { LoadedPlugin } from './plugin.ts'
import { loadPlugin } from './plugins.ts'

const schema = 'https://agent-plugins.org/schemas/1.0.0/'
const skill = '---\nname: review\ndescription: Reviews code.\n---\n\nRead it.\n'
const hooks = { hooks: { PreToolUse: [{ matcher: 'Write|Edit', hooks: [{ command: 'check' }] }] } }
const servers = { mcpServers: { db: { command: 'db-server', args: ['--stdio'] } } }

const common: Contents = {
  'skills/review/SKILL.md': skill,
  'skills/review/scripts/run.sh': 'echo',
  'commands/deploy.md': '---\ndescription: Deploys.\nargument-hint: <place>\n---\nDeploy to $ARGUMENTS',
  'agents/tester.md': '---\nname: tester\ndescription: Tests.\nmodel: m1\ntools: [read, run]\n---\nYou test.',
  'rules/style.mdc':
    '---\ndescription: Style.\nglobs: **/*.ts, *.{js,mjs}\nalwaysApply: true\n---\nTwo blanks.',
}
const named = { name: 'my-plugin', version: '1.2.3', description: 'Mine.' }

const open: Contents = {
  ...common,
  '.plugin/plugin.json': named,
  'hooks/hooks.json': hooks,
  '.mcp.json': servers,
}
const claude: Contents = {
  ...common,
  '.claude-plugin/plugin.json': named,
  'hooks/hooks.json': hooks,
  '.mcp.json': servers,
}
const copilot: Contents = {
  ...common,
  '.github/plugin/plugin.json': named,
  'hooks.json': hooks,
  '.mcp.json': servers,
}
const agent: Contents = {
  ...common,
  'plugin.json': { $schema: `${schema}plugin.schema.json`, ...named },
  'com.github.copilot/hooks/hooks.json': hooks,
  'mcp.json': {
    $schema: `${schema}mcp.schema.json`,
    mcpServers: { db: { type: 'stdio', command: 'db-server', args: ['--stdio'] } },
  },
}

const found = ({ components }: LoadedPlugin) => components.map(({ kind, child }) => `${kind} ${child.name}`)
const all = ['skill review', 'agent tester', 'prompt deploy', 'rule style', 'hook hooks', 'mcpServer db']

test.each([
  ['open', open, all],
  ['claude', claude, all.filter((each) => each !== 'rule style')],
  ['copilot', copilot, all],
  ['agent', agent, ['skill review', 'hook hooks', 'mcpServer db']],
] as const)('[K1] a plugin in the format %s is read from the disk', async (format, contents, expected) => {
  const plugin = await loadPlugin(folder(contents).files)
  expect(plugin.problems).toEqual([])
  expect(plugin).toMatchObject({ ...named, format, load: { kind: 'loaded' } })
  expect(found(plugin)).toEqual(expected)
})

test('[K1.1] [K1.2] [K1.3] [K1.4] [K1] the first sign decides between the formats', async () => {
  const everything = { ...copilot, ...claude, ...open, ...agent }
  const formatWithout = async (...paths: readonly string[]) => {
    const left = Object.fromEntries(Object.entries(everything).filter(([path]) => !paths.includes(path)))
    return (await loadPlugin(folder(left).files)).format
  }
  expect(await formatWithout()).toBe('agent')
  expect(await formatWithout('plugin.json')).toBe('open')
  expect(await formatWithout('plugin.json', '.plugin/plugin.json')).toBe('claude')
  expect(await formatWithout('plugin.json', '.plugin/plugin.json', '.claude-plugin/plugin.json')).toBe(
    'copilot',
  )
  const plain = { 'plugin.json': { name: 'x' }, 'skills/a/SKILL.md': 'A' }
  expect((await loadPlugin(folder(plain).files)).format).toBe('copilot')
  expect((await loadPlugin(folder({ ...plain, '.plugin/plugin.json': named }).files)).format).toBe('open')
  expect((await loadPlugin(folder(plain, '.claude/plugins/x').files)).format).toBe('claude')
})

test('[K4.3] [K4] components have their file as id, and what their frontmatter says', async () => {
  const { root, files } = folder(open)
  const { components } = await loadPlugin(files)
  const at = (path: string) => ({ id: fileUri(`${root}/${path}`), uri: fileUri(`${root}/${path}`) })
  const mcp = at('.mcp.json')
  expect(components).toEqual([
    {
      kind: 'skill',
      path: 'skills/review/SKILL.md',
      text: 'Read it.\n',
      child: { type: 'skill', ...at('skills/review/SKILL.md'), name: 'review', description: 'Reviews code.' },
    },
    {
      kind: 'agent',
      path: 'agents/tester.md',
      text: 'You test.',
      child: {
        type: 'agent',
        ...at('agents/tester.md'),
        name: 'tester',
        description: 'Tests.',
        model: 'm1',
        tools: ['read', 'run'],
      },
    },
    {
      kind: 'prompt',
      path: 'commands/deploy.md',
      text: 'Deploy to $ARGUMENTS',
      argumentHint: '<place>',
      child: { type: 'prompt', ...at('commands/deploy.md'), name: 'deploy', description: 'Deploys.' },
    },
    {
      kind: 'rule',
      path: 'rules/style.mdc',
      text: 'Two blanks.',
      child: {
        type: 'rule',
        ...at('rules/style.mdc'),
        name: 'style',
        description: 'Style.',
        alwaysApply: true,
        globs: ['**/*.ts', '*.{js,mjs}'],
      },
    },
    {
      kind: 'hook',
      path: 'hooks/hooks.json',
      hooks: [{ event: 'PreToolUse', matcher: 'Write|Edit', command: { any: 'check' } }],
      child: { type: 'hook', ...at('hooks/hooks.json'), name: 'hooks' },
    },
    {
      kind: 'mcpServer',
      path: '.mcp.json',
      server: { command: 'db-server', args: ['--stdio'] },
      child: {
        type: 'mcpServer',
        uri: mcp.uri,
        id: `${mcp.uri}#mcp=db`,
        name: 'db',
        range: { start: { line: 0, character: 15 }, end: { line: 0, character: 62 } },
        state: { kind: 'stopped' },
      },
    },
  ])
})

test('[K4.1] [K4.2] [K4.3] [K4] flags, names by file and folder, and one level of directories', async () => {
  const { components, problems } = await loadPlugin(
    folder({
      '.plugin/plugin.json': named,
      'skills/plain/SKILL.md': 'No frontmatter.',
      'skills/hidden/SKILL.md': '---\nuser-invocable: false\ndisable-model-invocation: true\n---\n',
      'skills/deep/deeper/SKILL.md': 'Too deep.',
      'skills/README.md': 'About the skills.',
      'agents/old.agent.md': '---\ninfer: false\nmodel:\n  - m1\n  - m2\n---\n',
      'agents/more/other.md': 'Too deep.',
      'rules/a.instructions.md': "---\napplyTo: '**'\n---\n",
      'rules/b.mdc': '---\npaths:\n- src/**\n- "test/**"\n---\n',
      'rules/c.md': 'Not a rule.',
      'commands/x.prompt.md': 'X',
    }).files,
  )
  expect(problems).toEqual([])
  const said = (child: object) =>
    Object.entries(child).filter(([key]) => !['type', 'id', 'uri'].includes(key))
  expect(components.map(({ child }) => [child.type, Object.fromEntries(said(child))])).toEqual([
    ['skill', { name: 'hidden', disableModelInvocation: true, disableUserInvocation: true }],
    ['skill', { name: 'plain' }],
    ['agent', { name: 'old', disableModelInvocation: true, model: 'm1' }],
    ['prompt', { name: 'x' }],
    ['rule', { name: 'a', globs: ['**'] }],
    ['rule', { name: 'b', globs: ['src/**', 'test/**'] }],
  ])
})

test('[K4.1] [K4] a SKILL.md in the root is a skill if there are no others, except in Agent Plugins', async () => {
  const lone = { 'SKILL.md': 'All of it.' }
  expect(found(await loadPlugin(folder(lone, 'lone').files))).toEqual(['skill lone'])
  expect(found(await loadPlugin(folder({ ...lone, 'skills/a/SKILL.md': 'A' }).files))).toEqual(['skill a'])
  const strict = { ...lone, 'plugin.json': { $schema: `${schema}plugin.schema.json`, name: 'x' } }
  expect(found(await loadPlugin(folder(strict).files))).toEqual([])
})
