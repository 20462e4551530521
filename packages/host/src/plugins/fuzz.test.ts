import { decode } from '@atrium/protocol/schema'
import { ChildCustomization } from '@atrium/protocol/session/customization'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trials } from '../../../protocol/test/search.ts'
import { memoryFiles } from '../../test/plugins/memory-files.ts'
import { digestOf } from './digest.ts'
import { customizationFolders, loadFolders } from './folders.ts'
import { loadPlugin } from './plugins.ts'
import { withDirectories } from './variables.ts'

const manifests = [
  'plugin.json',
  '.plugin/plugin.json',
  '.claude-plugin/plugin.json',
  '.github/plugin/plugin.json',
]
const inner = [
  'skills/a/SKILL.md',
  'agents/a.md',
  'commands/a.md',
  'rules/a.mdc',
  'hooks/hooks.json',
  'hooks.json',
]
const paths = [
  ...manifests,
  ...inner,
  'mcp.json',
  '.mcp.json',
  'SKILL.md',
  '.agents/skills/b/SKILL.md',
  '.claude/settings.json',
]

/** Texts that come close to what a plugin may contain. */
const words =
  `name description globs model tools alwaysApply infer skills mcpServers hooks paths exclusive $schema
  PreToolUse matcher command args env cwd url type stdio sse https://a ./skills ../.. true false null 0
  https://agent-plugins.org/schemas/1.0.0/plugin.schema.json`.split(/\s+/)
const word = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 8 }))
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 5 },
    word,
    fc.constantFrom(null, true, -1),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(word, tie('json'), { maxKeys: 4 }),
  ),
}))
const signs = fc.constantFrom(
  '---\n',
  '\n',
  ': ',
  '- ',
  '"',
  "'",
  '[',
  ']',
  '{',
  '}',
  ',',
  '|',
  '>',
  '#',
  '*',
  '\\',
  '\u202e',
  '/*',
  '//',
)
const text = fc.array(fc.oneof(signs, word), { maxLength: 30 }).map((parts) => `---\n${parts.join('')}`)
const content = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  text,
  json.map((value) => JSON.stringify(value)),
)
const contents = fc.dictionary(fc.constantFrom(...paths), content, { maxKeys: paths.length })

test('[K7] whatever bytes the files have, a plugin is loaded or says why not, and never throws', async () => {
  const kinds = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(contents, async (files) => {
      const plugin = await loadPlugin(memoryFiles(files))
      const folders = await loadFolders(memoryFiles(files), customizationFolders.workspace)
      for (const { load, components, problems } of [plugin, ...folders]) {
        kinds.set(load.kind, (kinds.get(load.kind) ?? 0) + 1)
        if (load.kind !== 'loaded' && load.kind !== 'loading') expect(load.message).toMatch(/\S/)
        for (const { message } of problems) expect(message).not.toBe('It cannot be read.')
        expect(load.kind === 'loaded' && problems.length > 0).toBe(false)
        for (const component of components) {
          expect(decode(ChildCustomization, component.child).ok).toBe(true)
          expect(component.child.name).toMatch(/^[^\p{Cc}\u202e]+$/u)
          withDirectories(component, plugin.format, { root: '/a b', data: '/d' })
        }
        expect(new Set(components.map(({ child }) => child.id)).size).toBe(components.length)
      }
      const { digest } = await digestOf(memoryFiles(files), (data) => String(data.length))
      expect(digest).toMatch(/^\d+$/)
    }),
    { numRuns: trials(2000, 150) },
  )
  // The search reaches all outcomes.
  expect([...kinds.keys()].toSorted()).toEqual(['degraded', 'error', 'loaded'])
})
