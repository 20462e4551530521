import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { toolCallStarted, confirmed, ready, running } from '../../../test/tool-call-actions.ts'
import { FakeFiles } from '../../../test/fake-files.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { accepted, cancelled, chat, twoClientSession, turn } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'
import type { Search } from '../../ports/search.ts'
import { isSecret } from '../access/protected-files.ts'
import { cpuMs } from '../../../test/load.ts'

/** Sets up files, and a running tool call that needed no confirmation. */
async function desk(
  texts: { readonly [path: string]: string | Uint8Array } = {},
  output: AgentAction = running,
) {
  const files = new FakeFiles()
  for (const [path, text] of Object.entries(texts)) files.put(path, text)
  const all = await twoClientSession(new ScriptedAgent(), { machine: { files } })
  const run = await turn(all, 't1', toolCallStarted(), output)
  const search = (text: string, more: Partial<Search> = {}) => run.chat.files.search('c1', { text, ...more })
  const grep = (pattern: string, more: Partial<Search> = {}) =>
    run.chat.files.search('c1', { pattern, ...more })
  return { all, files, search, grep, it: run.chat.files }
}

const sampleFiles = {
  '/a/one.txt': 'first\nthe door\nlast door',
  '/a/src/two.ts': 'const Door = 1\r\n// a door',
  '/a/node_modules/x.js': 'door',
  '/a/.hidden/x': 'door',
  '/a/bytes': new Uint8Array([100, 111, 111, 114, 0]),
  '/a/.env': 'door=secret',
  '/b/other.txt': 'door',
}

test('[N22] a call without confirmation may read, list and search in the directories of the session, and nowhere else', async () => {
  const { it, search } = await desk(sampleFiles)
  expect(await it.read('c1', 'src/two.ts')).toContain('Door')
  expect((await it.list('c1', '')).map(({ name }) => name)).toEqual([
    '.env',
    '.hidden',
    'bytes',
    'node_modules',
    'one.txt',
    'src',
  ])
  expect(await it.list('c1', 'src')).toEqual([{ name: 'two.ts', type: 'file' }])
  expect(await search('door')).toEqual({
    lines: [
      { path: 'one.txt', line: 2, text: 'the door' },
      { path: 'one.txt', line: 3, text: 'last door' },
      { path: 'src/two.ts', line: 2, text: '// a door' },
    ],
    more: false,
  })
  for (const path of ['/b', '/b/other.txt', '../../b', 'src/../../b']) {
    await expect(it.read('c1', path)).rejects.toThrow()
    await expect(it.list('c1', path)).rejects.toThrow()
    await expect(search('door', { path })).rejects.toThrow()
  }
})

test('[N22.2] [N22] a search is narrowed by path, glob and letter case', async () => {
  const { search } = await desk(sampleFiles)
  const paths = async (more: Partial<Search>) =>
    (await search('door', more)).lines.map(({ path, line }) => `${path}:${line}`)
  expect(await paths({ ignoreCase: true, glob: '**/*.ts' })).toEqual(['src/two.ts:1', 'src/two.ts:2'])
  expect(await paths({ path: 'src' })).toEqual(['two.ts:2'])
  expect(await paths({ path: 'one.txt' })).toEqual([':2', ':3'])
  expect(await paths({ glob: '*.md' })).toEqual([])
  await expect(search('')).rejects.toThrow('part of a single line')
  await expect(search('a\nb')).rejects.toThrow('part of a single line')
  await expect(search('x', { glob: '[' })).rejects.toThrow('the glob is invalid')
  await expect(search('x', { path: 'nowhere' })).rejects.toThrow('there is no such file')
})

test('[N22] a pattern finds lines in the same files as a text, narrowed in the same ways', async () => {
  const { grep } = await desk(sampleFiles)
  const places = async (pattern: string, more: Partial<Search> = {}) =>
    (await grep(pattern, more)).lines.map(({ path, line, text }) => `${path}:${line}:${text}`)
  expect(await places('^(the|last) d[aeiou]{2}r$')).toEqual(['one.txt:2:the door', 'one.txt:3:last door'])
  expect(await places('\\bdoor\\b', { glob: '**/*.ts' })).toEqual(['src/two.ts:2:// a door'])
  expect(await places('DOOR = \\d$', { ignoreCase: true })).toEqual(['src/two.ts:1:const Door = 1'])
  expect(await places('o+r', { path: 'src' })).toEqual(['two.ts:1:const Door = 1', 'two.ts:2:// a door'])
  expect(await places('^last', { path: 'one.txt' })).toEqual([':3:last door'])
  expect(await places('secret|KEY')).toEqual([])
})

test.each<[Search, string]>([
  [{}, 'a search needs either a text or a pattern'],
  [{ text: 'a', pattern: 'a' }, 'a search needs either a text or a pattern'],
  [{ pattern: '' }, 'the pattern is empty'],
  [{ pattern: '(' }, 'the pattern is not valid: the "(" at character 1 is not closed'],
  [{ pattern: '(?<=a)b' }, 'the pattern is not valid: lookahead and lookbehind are not supported'],
  [{ pattern: '(a)\\1' }, 'the pattern is not valid: back references are not supported'],
  [{ pattern: 'x'.repeat(1025) }, 'the pattern is not valid: it has more than 1024 characters'],
  [{ pattern: 'a', path: '/b' }, 'outside the directories'],
  [{ pattern: 'a', path: '.env' }, 'may hold secrets'],
  [{ pattern: 'a', glob: '[' }, 'the glob is invalid'],
])('[N22] the search %j is refused, and no file is read', async (search, reason) => {
  const { it, files } = await desk(sampleFiles)
  await expect(it.search('c1', search)).rejects.toThrow(reason)
  expect(files.asked.filter(({ what }) => what === 'read')).toEqual([])
})

test('[N22.1] [N22] S-35: secret files are read only after a user agreed', async () => {
  const texts = { ...sampleFiles, '/a/.git/config': 'door', '/a/.env.example': 'door' }
  const { it, files, search } = await desk(texts)
  files.links.set('/a/innocent', '/a/.env')
  for (const path of ['.env', '.ENV', 'innocent', '.git/config'])
    await expect(it.read('c1', path)).rejects.toMatchObject({ errorType: 'permission' })
  await expect(it.list('c1', '.git')).rejects.toMatchObject({ errorType: 'permission' })
  await expect(search('door', { path: '.env' })).rejects.toMatchObject({ errorType: 'permission' })
  expect((await search('door', { glob: '.env*' })).lines.map(({ path }) => path)).toEqual(['.env.example'])
  expect(files.asked.filter(({ what }) => what === 'read').map(({ place }) => place.path)).toEqual([
    '/a/.env.example',
  ])
  const agreed = await desk(texts, ready())
  await accepted(agreed.all.ann, chat, confirmed)
  expect(await agreed.it.read('c1', '.env')).toBe('door=secret')
})

test.each([
  ['.env', true],
  ['.env.local', true],
  ['.env.example', false],
  ['deep/.ssh/known_hosts', true],
  ['server.PEM', true],
  ['id_ed25519', true],
  ['id_ed25519.pub', false],
  ['package.json', false],
  ['environment.ts', false],
  ['.\u200benv', true],
  ['prod.env', true],
  ['deploy/.htpasswd', true],
  ['credentials.json', true],
  ['credentials.ts', false],
  ['id_ed25519_sk', true],
  ['.config/gh/hosts.yml', true],
  ['.config/gcloud/x.db', true],
  ['.config/nvim/init.lua', false],
  ['.vault-token', true],
])('[N22] %j is secret: %j', (path, secret) => {
  expect(isSecret(`file:///a/${path}`)).toBe(secret)
})

test('[N22.2] [N22] I17: a search whose turn is over reads no further', async () => {
  const { all, files, search } = await desk(
    Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`/a/${i}.txt`, 'door'])),
  )
  const read = files.read.bind(files)
  let reads = 0
  let open = () => {}
  const door = new Promise<void>((resolve) => (open = resolve))
  files.read = async (place, most) => {
    reads++
    await door
    return read(place, most)
  }
  const reading = search('door')
  await until(() => reads > 0)
  await accepted(all.ann, chat, cancelled('t1'))
  open()
  await expect(reading).rejects.toThrow('the turn is over')
  expect(reads).toBe(16)
})

test('[N22] S-25: a slow glob does not block others, and ends at the time limit', async () => {
  const { all, search } = await desk(
    Object.fromEntries(
      Array.from({ length: 2000 }, (_, i) => [`/a/${'deep/down/'.repeat(4)}${i}.ts`, 'door']),
    ),
  )
  let over = false
  const searching = search('door', { glob: `${'**/?'.repeat(250)}x` }).finally(() => (over = true))
  const begun = cpuMs()
  let breaths = 0
  const others = () => new Promise<void>((resolve) => setImmediate(resolve))
  for (; !over && breaths < 20; breaths++) {
    await others()
    all.world.advance(1)
  }
  expect([over, (cpuMs() - begun) / breaths < 100]).toEqual([false, true])
  all.world.advance(limits.searchMs)
  expect(await searching).toEqual({ lines: [], more: true })
})

test('[N22.3] [N22] S-25: a slow pattern does not block others, and ends at the time limit and with its turn', async () => {
  let seed = 1
  const letter = () => ((seed = (seed * 48_271) % 2_147_483_647) % 2 === 0 ? 'a' : 'b')
  const long = { '/a/long.txt': Array.from({ length: 500_000 }, letter).join(''), '/a/next.txt': 'x' }
  const others = () => new Promise<void>((resolve) => setImmediate(resolve))
  const slow = '(a|b)*a(a|b){900}c'
  const { all, grep } = await desk(long)
  let over = false
  const searching = grep(slow).finally(() => (over = true))
  const begun = cpuMs()
  let breaths = 0
  for (; !over && breaths < 20; breaths++) {
    await others()
    all.world.advance(1)
  }
  expect([over, (cpuMs() - begun) / breaths < 200]).toEqual([false, true])
  all.world.advance(limits.searchMs)
  expect(await searching).toEqual({ lines: [], more: true })

  const ended = await desk(long)
  const reading = ended.grep(slow)
  for (let i = 0; i < 5; i++) {
    await others()
    ended.all.world.advance(1)
  }
  const refused = expect(reading).rejects.toThrow('the turn is over')
  await accepted(ended.all.ann, chat, cancelled('t1'))
  ended.all.world.advance(1)
  await refused
})

const { searchBytes, searchLines, searchLineLength } = limits

test('[S-57 searchBytes] at 1,048,576 bytes a file is searched, [S-57 searchBytes] past 1,048,576 it is not', async () => {
  const long = (bytes: number) => `door${'x'.repeat(bytes - 4)}`
  const { search } = await desk({ '/a/at': long(searchBytes) })
  expect(await search('door')).toMatchObject({ lines: [{ path: 'at' }], more: false })
  const past = await desk({ '/a/past': long(searchBytes + 1) })
  expect(await past.search('door')).toEqual({ lines: [], more: true })
})

test('[S-57 searchLines] at 200 lines all are returned, [S-57 searchLines] past 200 `more` is true', async () => {
  const { search } = await desk({ '/a/at': 'door\n'.repeat(searchLines) })
  const all = await search('door')
  expect([all.lines.length, all.more]).toEqual([searchLines, false])
  const past = await desk({ '/a/b': 'door\n'.repeat(searchLines), '/a/c': 'door' })
  const some = await past.search('door')
  expect([some.lines.length, some.more]).toEqual([searchLines, true])
})

test('[S-57 searchLineLength] at 400 characters a line is whole, [S-57 searchLineLength] past 400 it is cut', async () => {
  const { search } = await desk({
    '/a/a': `door${'x'.repeat(searchLineLength - 4)}`,
    '/a/b': `door${'x'.repeat(searchLineLength)}`,
  })
  expect((await search('door')).lines.map(({ text }) => text.length)).toEqual([400, 400])
})

test.each([
  ['[S-57 searchMs] at 10,000 ms a search goes on', 9999, false],
  ['[S-57 searchMs] past 10,000 ms it tells what it has', 10_001, true],
])('%s', async (_, ms, more) => {
  const { all, files, search } = await desk(
    Object.fromEntries(Array.from({ length: 40 }, (__, i) => [`/a/${i}.txt`, 'door'])),
  )
  const look = files.stat.bind(files)
  let moved = false
  files.stat = async (place) => {
    if (!moved && place.path !== '/a') all.world.advance(ms)
    moved ||= place.path !== '/a'
    return look(place)
  }
  const found = await search('door')
  expect([found.more, found.lines.length === 40]).toEqual([more, !more])
})
