import { expect, test } from 'vitest'
import type { Contents } from '../../test/plugins/folder.ts'
import { memoryFiles } from '../../test/plugins/memory-files.ts'
import { digestOf } from './digest.ts'
import { loadPlugin } from './plugins.ts'

async function load(contents: Contents) {
  const { components, problems } = await loadPlugin(memoryFiles(contents))
  return { components, problems: problems.map(({ message }) => message) }
}

const skills = (count: number, text = 'S') =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`skills/s${String(n).padStart(4, '0')}/SKILL.md`, text]),
  )

test('[S-57 pluginComponents] at 2,000 each is loaded', async () => {
  expect(await load(skills(2000))).toMatchObject({ components: { length: 2000 }, problems: [] })
})
test('[S-57 pluginComponents] past 2,000 the others are left out', async () => {
  const { components, problems } = await load({
    ...skills(2001),
    '.mcp.json': { mcpServers: { a: { command: 'x' } } },
  })
  expect(components).toHaveLength(2000)
  expect(problems).toEqual(['It has more than 2000 components. The others are left out.'])
})

const sized = (bytes: number) => load({ 'skills/a/SKILL.md': 'x'.repeat(bytes) })

test('[S-57 pluginFileBytes] at 1,048,576 bytes a file is read', async () => {
  expect((await sized(1_048_576)).components).toHaveLength(1)
})
test('[S-57 pluginFileBytes] past 1,048,576 it is left out', async () => {
  expect(await sized(1_048_577)).toEqual({ components: [], problems: ['It is larger than 1048576 bytes.'] })
})

const mebibyte = 'x'.repeat(1_048_576)

test('[S-57 pluginBytes] at 67,108,864 bytes a plugin is read, and has a digest', async () => {
  const files = skills(64, mebibyte)
  expect(await load(files)).toMatchObject({ components: { length: 64 }, problems: [] })
  expect((await digestOf(memoryFiles(files), hash)).files).toHaveLength(64)
})
test('[S-57 pluginBytes] past 67,108,864 the rest is left out, and there is no digest', async () => {
  const files = { ...skills(64, mebibyte), 'skills/z/SKILL.md': 'x' }
  const { components, problems } = await load(files)
  expect(components).toHaveLength(64)
  expect(problems).toEqual(['It is left out, because the files have more than 67108864 bytes together.'])
  await expect(digestOf(memoryFiles(files), hash)).rejects.toThrow(
    'skills/z/SKILL.md is not a regular file, or the plugin has more than 67108864 bytes.',
  )
})

const hash = (data: Uint8Array | string) => String(data.length)
const tree = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`a/${n}`, '']))

test('[S-57 pluginFiles] at 10,000 files and folders there is a digest', async () => {
  expect((await digestOf(memoryFiles(tree(9999)), hash)).files).toHaveLength(9999)
})
test('[S-57 pluginFiles] past 10,000 there is none', async () => {
  await expect(digestOf(memoryFiles(tree(10_000)), hash)).rejects.toThrow(
    'It has more than 10000 files and folders.',
  )
})

const named = (length: number) => load({ 'skills/a/SKILL.md': `---\nname: ${'n'.repeat(length)}\n---\n` })

test('[S-57 componentName] at 128 characters a name is kept', async () => {
  expect((await named(128)).components[0]?.child.name).toHaveLength(128)
})
test('[S-57 componentName] past 128 the component is left out', async () => {
  expect(await named(129)).toEqual({ components: [], problems: ['Its name is longer than 128 characters.'] })
})

async function described(length: number) {
  const { components } = await load({ 'skills/a/SKILL.md': `---\ndescription: ${'d'.repeat(length)}\n---\n` })
  const [skill] = components
  return skill?.kind === 'skill' ? skill.child.description : undefined
}

test('[S-57 descriptionLength] at 1,024 characters a description is kept', async () => {
  expect(await described(1024)).toBe('d'.repeat(1024))
})
test('[S-57 descriptionLength] past 1,024 the rest is cut off', async () => {
  expect(await described(1025)).toBe(`${'d'.repeat(1023)}…`)
})
