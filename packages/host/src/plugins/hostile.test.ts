import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../../test/plugins/folder.ts'
import type { Contents, Folder } from '../../test/plugins/folder.ts'
import { memoryFiles } from '../../test/plugins/memory-files.ts'
import { loadPlugin } from './plugins.ts'

const good: Contents = { '.plugin/plugin.json': { name: 'p' }, 'skills/good/SKILL.md': 'G' }

/** A plugin with a directory beside it, which the plugin may not read. */
function hostile(contents: Contents = {}): Folder & { readonly beside: string } {
  const plugin = folder({ ...good, ...contents })
  const beside = join(plugin.root, '..', 'beside')
  mkdirSync(join(beside, 'secret'), { recursive: true })
  for (const name of ['SKILL.md', 'secret/SKILL.md', 'plugin.json', 'hooks.json', 'secret.md'])
    writeFileSync(join(beside, name), 'secret')
  return { ...plugin, beside }
}

async function report(plugin: Pick<Folder, 'files'>) {
  const { components, problems, load } = await loadPlugin(plugin.files)
  const names = components.map(({ child }) => child.name)
  expect(JSON.stringify({ components, problems })).not.toContain('secret')
  return { names, load: load.kind, problems: problems.map(({ path, message }) => `${path}: ${message}`) }
}

const outside = 'This is not in a directory that may be used.'

test.each([
  ['skills/evil', 'secret', 'skills/evil/SKILL.md'],
  ['skills/evil/SKILL.md', 'SKILL.md', 'skills/evil/SKILL.md'],
  ['commands', '', 'commands'],
  ['commands/evil.md', 'secret.md', 'commands/evil.md'],
  ['hooks/hooks.json', 'hooks.json', 'hooks/hooks.json'],
  ['hooks', '', 'hooks'],
  ['.mcp.json', 'plugin.json', '.mcp.json'],
  ['rules', '/proc/self', 'rules'],
])(
  '[K8] S-28: a link at %s that leads out of the plugin is refused, and the rest works',
  async (at, to, path) => {
    const plugin = hostile()
    mkdirSync(join(plugin.root, at, '..'), { recursive: true })
    symlinkSync(to.startsWith('/') ? to : join(plugin.beside, to), join(plugin.root, at))
    expect(await report(plugin)).toEqual({
      names: ['good'],
      load: 'degraded',
      problems: [`${path}: ${outside}`],
    })
  },
)

test('[K8] S-28: a manifest that is a link out of the plugin is refused', async () => {
  const { '.plugin/plugin.json': _, ...others } = good
  const plugin = { ...folder(others), beside: '' }
  mkdirSync(join(plugin.root, '.claude-plugin'))
  symlinkSync('/etc/passwd', join(plugin.root, '.claude-plugin/plugin.json'))
  expect(await report(plugin)).toMatchObject({
    names: ['good'],
    problems: [`.claude-plugin/plugin.json: ${outside}`],
  })
})

test('[K8] a link inside the plugin is followed, and links in a circle end', async () => {
  const plugin = hostile({ 'shared/tool/SKILL.md': 'T' })
  symlinkSync('../shared/tool', join(plugin.root, 'skills/tool'))
  symlinkSync('loop', join(plugin.root, 'skills/loop'))
  symlinkSync('..', join(plugin.root, 'skills/up'))
  const { names, problems } = await report(plugin)
  expect(names).toEqual(['good', 'tool'])
  expect(problems).toEqual([])
})

test('[K8] S-30: a FIFO, a directory and a device in the place of a file are left out at once', async () => {
  const plugin = hostile()
  for (const name of ['fifo', 'directory', 'device']) mkdirSync(join(plugin.root, 'skills', name))
  execFileSync('mkfifo', [join(plugin.root, 'skills/fifo/SKILL.md')])
  mkdirSync(join(plugin.root, 'skills/directory/SKILL.md'))
  symlinkSync('/dev/zero', join(plugin.root, 'skills/device/SKILL.md'))
  mkdirSync(join(plugin.root, '.mcp.json'))
  expect(await report(plugin)).toEqual({
    names: ['good'],
    load: 'degraded',
    problems: [
      `skills/device/SKILL.md: ${outside}`,
      'skills/directory/SKILL.md: It is a directory.',
      'skills/fifo/SKILL.md: It is not a regular file.',
      '.mcp.json: It is a directory.',
    ],
  })
})

test('[K2] a manifest that is a directory or a FIFO is a problem; the usual places are read', async () => {
  for (const make of [(path: string) => mkdirSync(path), (path: string) => execFileSync('mkfifo', [path])]) {
    const plugin = folder({ 'skills/good/SKILL.md': 'G', '.plugin/note': '' })
    make(join(plugin.root, '.plugin/plugin.json'))
    const { names, load, problems } = await report(plugin)
    expect([names, load, problems.length]).toEqual([['good'], 'degraded', 1])
  }
})

test('[K7] S-20: a huge file and broken files are left out alone', async () => {
  const plugin = hostile({
    'skills/huge/SKILL.md': 'x'.repeat(2_000_000),
    'skills/binary/SKILL.md': Uint8Array.of(0xff, 0xfe, 0),
    'skills/open/SKILL.md': '---\nname: x\n',
    'hooks/hooks.json': '{"hooks":'.repeat(100_000),
    '.mcp.json': '{"mcpServers": {"a": {"command": ',
  })
  expect(await report(plugin)).toEqual({
    names: ['good'],
    load: 'degraded',
    problems: [
      'skills/binary/SKILL.md: It is not UTF-8 text.',
      'skills/huge/SKILL.md: It is larger than 1048576 bytes.',
      'skills/open/SKILL.md: Its frontmatter has no end: a line with --- is missing.',
      'hooks/hooks.json: Its JSON is nested deeper than 64.',
      '.mcp.json: It is not valid JSON.',
    ],
  })
})

test('[K7.2] [K7] 10,000 skills: the first ones are loaded, and nothing is opened beyond the limit', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [`skills/s${String(n).padStart(5, '0')}/SKILL.md`, 'S']),
  )
  const files = memoryFiles(many)
  const { components, problems } = await loadPlugin(files)
  expect([components.length, components.at(-1)?.child.name]).toEqual([2000, 's01999'])
  expect(problems).toEqual([
    { path: '', message: 'It has more than 2000 components. The others are left out.' },
  ])
  expect(files.asked.filter((path) => path.endsWith('SKILL.md'))).toHaveLength(2000)
})

test('[K9] names with control characters or directions are refused, and messages show them as escapes', async () => {
  const plugin = hostile({
    'skills/bad\u202ename/SKILL.md': 'B',
    'skills/bell/SKILL.md': '---\nname: "ding\\u0007"\n---\n',
    'skills/zero/SKILL.md': '---\nname: go\u200bod\n---\n',
    'skills/long/SKILL.md': `---\ndescription: |\n  one\u0007\n  two\u202e\n---\n`,
    'commands/a\u001b[31mb.md': 'C',
  })
  const { components } = await loadPlugin(plugin.files)
  expect(components[1]?.child).toMatchObject({ name: 'long', description: 'one two' })
  expect(await report(plugin)).toEqual({
    names: ['good', 'long'],
    load: 'degraded',
    problems: [
      'skills: The name bad\\u{202e}name has a hidden character. The file is left out.',
      'skills/bell/SKILL.md: Its name has a hidden character: ding\\u{7}',
      'skills/zero/SKILL.md: Its name has a hidden character: go\\u{200b}od',
      'commands: The name a\\u{1b}[31mb.md has a hidden character. The file is left out.',
    ],
  })
})

test('[K7.1] [K7] of two components with one name the first counts; the other is reported', async () => {
  const same = '---\nname: same\n---\n'
  const plugin = hostile({
    'skills/a/SKILL.md': `${same}A`,
    'skills/b/SKILL.md': `${same}B`,
    'agents/c.md': `${same}C`,
  })
  const { components, problems, load } = await loadPlugin(plugin.files)
  expect(components.map(({ path }) => path)).toEqual([
    'skills/a/SKILL.md',
    'skills/good/SKILL.md',
    'agents/c.md',
  ])
  expect(problems).toEqual([
    { path: 'skills/b/SKILL.md', message: 'It is left out, because there is another skill same.' },
  ])
  expect(load).toEqual({
    kind: 'degraded',
    message: 'skills/b/SKILL.md: It is left out, because there is another skill same.',
  })
})

test('[K7] a folder that is missing, or is a file, is an error with a sentence', async () => {
  const { files } = folder({})
  const missing = { ...files, list: () => files.list('nowhere', 1) }
  expect((await loadPlugin(missing)).load).toEqual({
    kind: 'error',
    message: 'There is no file or directory of that name.',
  })
  const broken = { ...files, list: () => Promise.reject(new TypeError('x is undefined')) }
  expect((await loadPlugin(broken)).load).toEqual({ kind: 'error', message: 'It cannot be read.' })
})
