import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileUri } from '@atrium/protocol/file-uri'
import { expect, test } from 'vitest'
import { folder } from '../../test/plugins/folder.ts'
import type { Contents } from '../../test/plugins/folder.ts'
import { memoryFiles } from '../../test/plugins/memory-files.ts'
import { customizationFolders, installedPlugins, loadFolders } from './folders.ts'

const hooks = { hooks: { Stop: [{ command: 'h' }] } }
const workspace: Contents = {
  '.agents/skills/a/SKILL.md': 'A',
  '.agents/agents/b.md': 'B',
  '.agents/commands/c.md': 'C',
  '.agents/rules/d.mdc': 'D',
  '.agents/hooks/e.json': hooks,
  '.claude/skills/f/SKILL.md': 'F',
  '.claude/agents/g.md': 'G',
  '.claude/commands/h.md': 'H',
  '.claude/rules/i.md': 'I',
  '.claude/settings.json': { permissions: {}, ...hooks },
  '.claude/settings.local.json': { model: 'x' },
  '.github/skills/j/SKILL.md': 'J',
  '.github/agents/k.agent.md': 'K',
  '.github/prompts/l.prompt.md': 'L',
  '.github/prompts/README.md': 'not a prompt',
  '.github/instructions/m.instructions.md': 'M',
  '.github/hooks/n.json': hooks,
  '.github/workflows/ci.yml': 'on: push',
  '.mcp.json': { mcpServers: { o: { command: 'x' } } },
  'src/index.ts': '',
}

test('[K12] the folders of a workspace, each with its contents', async () => {
  const { files, root } = folder(workspace)
  const loaded = await loadFolders(files, customizationFolders.workspace)
  expect(loaded.flatMap(({ problems }) => problems)).toEqual([])
  expect(
    loaded.map(({ path, contents, components }) => [
      path,
      contents,
      ...components.map(({ child }) => child.name),
    ]),
  ).toEqual([
    ['.agents/skills', 'skill', 'a'],
    ['.agents/agents', 'agent', 'b'],
    ['.agents/commands', 'prompt', 'c'],
    ['.agents/rules', 'rule', 'd'],
    ['.agents/hooks', 'hook', 'e'],
    ['.claude/skills', 'skill', 'f'],
    ['.claude/agents', 'agent', 'g'],
    ['.claude/commands', 'prompt', 'h'],
    ['.claude/rules', 'rule', 'i'],
    ['.claude', 'hook', 'settings'],
    ['.github/skills', 'skill', 'j'],
    ['.github/agents', 'agent', 'k'],
    ['.github/prompts', 'prompt', 'l'],
    ['.github/instructions', 'rule', 'm'],
    ['.github/hooks', 'hook', 'n'],
    ['', 'mcpServer', 'o'],
  ])
  expect(loaded[0]?.uri).toBe(fileUri(`${root}/.agents/skills`))
  expect(loaded[0]?.components[0]?.child.id).toBe(fileUri(`${root}/.agents/skills/a/SKILL.md`))
})

test('[K12] the folders in the home of a user; a folder that does not exist is no folder', async () => {
  const home = { '.agents/skills/a/SKILL.md': 'A', '.agents/.mcp.json': { mcpServers: {} }, '.mcp.json': {} }
  const loaded = await loadFolders(memoryFiles(home), customizationFolders.home)
  expect(loaded.map(({ path, contents, load }) => [path, contents, load.kind])).toEqual([
    ['.agents/skills', 'skill', 'loaded'],
    ['.agents', 'mcpServer', 'loaded'],
  ])
  expect(await loadFolders(memoryFiles({ 'README.md': '' }), customizationFolders.workspace)).toEqual([])
})

test('[K12] a folder with a bad component is degraded alone; one that leads out of the workspace is an error', async () => {
  const { files, root } = folder({
    '.agents/skills/a/SKILL.md': 'A',
    '.agents/skills/b/SKILL.md': '---\n',
    '.github/agents/c.md': 'C',
  })
  symlinkSync('/etc', join(root, '.claude'))
  const loaded = await loadFolders(files, customizationFolders.workspace)
  expect(loaded.map(({ path, load }) => [path, load.kind])).toEqual([
    ['.agents/skills', 'degraded'],
    ['.claude/skills', 'error'],
    ['.claude/agents', 'error'],
    ['.claude/commands', 'error'],
    ['.claude/rules', 'error'],
    ['.claude', 'error'],
    ['.github/agents', 'loaded'],
  ])
})

test('[K12] a workspace that has become unreadable has a folder with an error, and does not throw', async () => {
  const files = memoryFiles(workspace)
  const broken = { ...files, list: () => Promise.reject(new Error('no disk')) }
  const loaded = await loadFolders(broken, customizationFolders.workspace)
  expect(new Set(loaded.map(({ load }) => load.kind))).toEqual(new Set(['error']))
  expect(await installedPlugins(broken)).toEqual([])
})

test('[K12] installed plugins are the directories of .agents/plugins, without their data', async () => {
  const files = memoryFiles({
    '.agents/plugins/b/x': '',
    '.agents/plugins/a/x': '',
    '.agents/plugins/data/a/x': '',
    '.agents/plugins/n': '',
  })
  expect(await installedPlugins(files)).toEqual(['.agents/plugins/a', '.agents/plugins/b'])
  expect(await installedPlugins(memoryFiles({}))).toEqual([])
})
