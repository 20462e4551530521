import { expect, test } from 'vitest'
import { untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { chat, message, session, started, oneClientSession } from '../../../test/one-client-session.ts'
import { FileError } from '../../ports/files.ts'
import type { Agent } from '../../ports/agent.ts'
import type { Vcs } from '../../ports/vcs.ts'
import { complete, texts, code, setUp } from '../../../test/completing.ts'

test('[J1] initialize names the trigger characters', async () => {
  const { all } = await oneClientSession(new ScriptedAgent())
  const opened = await all.link().initialize('new')
  expect(opened.completionTriggerCharacters).toEqual(['@', '#', '/'])
})

test('[J2] @ completes a file, with its URI and the range to replace', async () => {
  const { ann } = await setUp(['/w/a b.txt', '/w/c.ts'])
  expect(await complete(ann, 'see @a')).toEqual({
    items: [
      {
        insertText: '@a b.txt',
        rangeStart: 4,
        rangeEnd: 6,
        attachment: {
          type: 'resource',
          uri: 'file:///w/a%20b.txt',
          label: 'a b.txt',
          displayKind: 'document',
        },
      },
    ],
  })
})

test('[J1.4] on the channel of a session, its default chat is completed', async () => {
  const { ann } = await setUp(['/w/a.txt'])
  const asked = { channel: session, kind: 'userMessage' as const, text: '@a', offset: 2 }
  expect((await ann.ask('completions', asked)).items).toMatchObject([{ insertText: '@a.txt' }])
})

test('[J1.2] [J2] positions count UTF-16 units, and the text after the cursor is left alone', async () => {
  const { ann } = await setUp(['/w/a.txt'])
  const text = '👩‍👩‍👧 @a please'
  const { items } = await complete(ann, text, { offset: 11 })
  expect(items).toMatchObject([{ rangeStart: 9, rangeEnd: 11 }])
  expect(text.slice(9, 11)).toBe('@a')
})

test("[J2.1] [J2] only files in the session's directories are found", async () => {
  const { ann } = await setUp(['/w/a.txt', '/x/a.txt', '/wa.txt'])
  expect(await texts(ann, '@a')).toEqual(['@a.txt'])
})

test('[J2] with several directories, each file is shown with the name of its directory', async () => {
  const { ann } = await setUp(['/one/a.txt', '/two/a.txt', '/two/src/aa.txt'], {
    directories: ['/one', '/two'],
  })
  expect(await texts(ann, '@a')).toEqual(['@one/a.txt', '@two/a.txt', '@two/src/aa.txt'])
})

test('[J2.1] [J2] a chat with directories of its own finds files in those', async () => {
  const { ann } = await setUp(['/one/a.txt', '/two/a.txt'], { directories: ['/one', '/two'] })
  const directory = 'file:///two'
  await ann.echo(ann.dispatch(chat, { type: 'chat/workingDirectorySet', directory }))
  expect(await texts(ann, '@a')).toEqual(['@a.txt'])
  // A directory that the session has given up is not searched, although the chat still names it.
  await ann.echo(ann.dispatch(session, { type: 'session/workingDirectoryRemoved', directory }))
  expect(await texts(ann, '@a')).toEqual([])
})

test('[J3] in a repository, version control lists the files below the directory', async () => {
  const asked: unknown[] = []
  const vcs: Partial<Vcs> = {
    root: async () => '/w',
    files: async (...given) => (asked.push(given), ['src/a.ts', 'src/.hidden/b.ts', 'srcs/c.ts', 'd.ts']),
  }
  const { ann, files } = await setUp(['/w/src/ignored.ts'], { vcs, directories: ['/w/src'] })
  expect(await texts(ann, '@')).toEqual(['@a.ts', '@.hidden/b.ts'])
  expect(asked).toEqual([['/w', 20_000]])
  expect(files.asked).toEqual([])
})

test('[J3] a working tree with another path is walked', async () => {
  const vcs: Partial<Vcs> = { root: async () => '/real', files: async () => ['a.ts'] }
  const { ann } = await setUp(['/w/b.ts'], { vcs })
  expect(await texts(ann, '@')).toEqual(['@b.ts'])
})

test('[J3] without version control, directories of tools are left out, and the walk stays in the directory', async () => {
  const { ann, files } = await setUp([
    '/w/a.ts',
    '/w/.env',
    '/w/.git/HEAD',
    '/w/node_modules/x/index.js',
    '/w/.cache/y',
    '/w/src/b.ts',
  ])
  expect(await texts(ann, '@')).toEqual(['@.env', '@a.ts', '@src/b.ts'])
  expect(files.asked.map(({ place }) => place)).toEqual([
    { path: '/w', roots: ['/w'] },
    { path: '/w/src', roots: ['/w'] },
  ])
})

test('[J3] the root of the file system is a directory like others', async () => {
  const { ann } = await setUp(['/etc/a.ts'], { directories: ['/'] })
  expect((await complete(ann, '@')).items).toMatchObject([
    { insertText: '@etc/a.ts', attachment: { uri: 'file:///etc/a.ts' } },
  ])
})

test('[J3] names that no URI can have, or with control characters, are left out', async () => {
  const { ann } = await setUp(['/w/a\nb', '/w/a\\b', '/w/a\u202eb', '/w/ok a'])
  expect(await texts(ann, '@a')).toEqual(['@ok a'])
})

test('[J3.1] [J3] unreadable directories are empty, and no error reaches the client', async () => {
  const { all, ann, files } = await setUp(['/one/a.txt', '/two/b.txt'], { directories: ['/one', '/two'] })
  files.trouble = new FileError('refused', 'not allowed')
  expect(await texts(ann, '@')).toEqual(['@two/b.txt'])
  expect(all.world.reports).toEqual([])
})

test('[J3] an unexpected error is reported and harms nothing', async () => {
  const root = () => Promise.reject(new Error('git is gone'))
  const { all, ann } = await setUp(['/w/a'], { vcs: { root } })
  await untilIdle()
  const before = all.world.reports.length
  for (let i = 0; i < 3; i++) expect(await texts(ann, '@')).toEqual([])
  expect(all.world.reports.slice(before).map(({ event }) => event)).toEqual([
    'a directory could not be listed',
  ])
})

test('[J3] a host without files completes none', async () => {
  const { ann } = await oneClientSession(new ScriptedAgent())
  expect(await complete(ann, '@')).toEqual({ items: [] })
})

test('[J4] # completes other chats of the session by their titles', async () => {
  const agent = new ScriptedAgent()
  const { ann } = await oneClientSession(agent)
  for (const [uri, text] of [
    ['ahp-chat:/two', 'Fix the door'],
    ['ahp-chat:/three', 'Paint / wash'],
  ] as const)
    await ann.ask('createChat', { channel: session, chat: uri, initialMessage: message(text) })
  await ann.ask('createChat', { channel: session, chat: 'ahp-chat:/untitled' })
  await untilIdle()
  const door = { type: 'chat', resource: 'ahp-chat:/two', label: 'Fix the door' }
  expect(await complete(ann, '#DOOR')).toEqual({
    items: [{ insertText: '#Fix the door', rangeStart: 0, rangeEnd: 5, attachment: door }],
  })
  expect(await texts(ann, '#')).toEqual(['#Fix the door', '#Paint / wash'])
  expect(await texts(ann, '#paint')).toEqual(['#Paint / wash'])
})

test('[J4] # also completes files and folders', async () => {
  const { ann } = await setUp(['/w/src/deep/a.ts', '/w/src/b.ts', '/w/srcs.txt'])
  expect(await texts(ann, '#src')).toEqual([
    '#src/',
    '#srcs.txt',
    '#src/b.ts',
    '#src/deep/',
    '#src/deep/a.ts',
  ])
  const folder = { type: 'resource', uri: 'file:///w/src/deep', label: 'src/deep/', displayKind: 'directory' }
  expect((await complete(ann, 'in #deep')).items[0]).toEqual({
    insertText: '#src/deep/',
    rangeStart: 3,
    rangeEnd: 8,
    attachment: folder,
  })
  expect(await texts(ann, '@deep')).toEqual(['@src/deep/a.ts'])
})

test("[J4.2] [J4] / completes the agent's commands, at the beginning of a message only", async () => {
  const agent: Agent = Object.assign(new ScriptedAgent(), {
    commands: async () => [
      { name: 'plan', description: 'a plan' },
      { name: 'play' },
      { name: '' },
      { name: 'x'.repeat(300) },
    ],
  })
  const { ann } = await oneClientSession(agent)
  expect(await complete(ann, '/pla')).toEqual({
    items: [
      {
        insertText: '/plan',
        rangeStart: 0,
        rangeEnd: 4,
        attachment: {
          type: 'simple',
          label: '/plan',
          displayKind: 'command',
          _meta: { command: 'plan', description: 'a plan' },
        },
      },
      {
        insertText: '/play',
        rangeStart: 0,
        rangeEnd: 4,
        attachment: {
          type: 'simple',
          label: '/play',
          displayKind: 'command',
          _meta: { command: 'play' },
        },
      },
    ],
  })
  expect(await texts(ann, 'and /pla')).toEqual([])
})

test('[J4] an agent without commands, or whose commands fail or hang, has none', async () => {
  const plain = await oneClientSession(new ScriptedAgent())
  expect(await texts(plain.ann, '/')).toEqual([])
  const throwing = await oneClientSession(
    Object.assign(new ScriptedAgent(), { commands: () => Promise.reject(new Error('secret')) }),
  )
  expect(await texts(throwing.ann, '/')).toEqual([])
  expect(throwing.all.world.reports).toHaveLength(1)
  const hanging = await oneClientSession(
    Object.assign(new ScriptedAgent(), { commands: () => new Promise<never>(() => {}) }),
  )
  const answer = texts(hanging.ann, '/')
  await untilIdle()
  hanging.all.world.advance(1000)
  expect(await answer).toEqual([])
})

test.each([
  ['an offset beyond the text', { offset: 3 }, -32602],
  ['a negative offset', { offset: -1 }, -32602],
  ['half an offset', { offset: 0.5 }, -32602],
  ['an offset in words', { offset: '1' }, -32602],
  ['no offset', { offset: null }, -32602],
  ['a text that is none', { text: 7 }, -32602],
  ['a kind that is none', { kind: 7 }, -32602],
  ['nothing', { channel: 'ahp-chat:/none' }, -32008],
  ['the root', { channel: 'ahp-root://' }, -32008],
])('[J1.2] [J1] %s is refused', async (_, more, expected) => {
  const { ann } = await setUp(['/w/a'])
  expect(await code(complete(ann, '@a', more))).toBe(expected)
  expect(await texts(ann, '@a')).toEqual(['@a'])
})

test('[J1.3] [J1] an unknown kind of text, and a text without a word, have no completions', async () => {
  const { ann } = await setUp(['/w/a'])
  expect(await complete(ann, '@a', { kind: 'commitMessage' })).toEqual({ items: [] })
  for (const text of ['', 'a', '@a ', '\ud83d', '@\ud83d']) expect(await texts(ann, text)).toEqual([])
})

test('[J1] a session that was disposed of meanwhile, and a chat by its alias', async () => {
  const { ann } = await setUp(['/w/a'])
  expect(await complete(ann, '@a', { channel: `${session}/chat` })).toMatchObject({ items: [{}] })
  await ann.ask('disposeSession', { channel: session })
  expect(await code(complete(ann, '@a'))).toBe(-32008)
})

test('[J3.2] [J3] other requests do not wait for completions', async () => {
  const { ann, files, agent } = await setUp(['/w/a'])
  files.hangs = true
  const slow = complete(ann, '@a')
  ann.dispatch(chat, started('t1'))
  await until(() => agent.runs.length === 1)
  expect(await Promise.race([slow.then(() => 'answered'), untilIdle().then(() => 'waits')])).toBe('waits')
})
