import { callIn } from '@atrium/protocol/chat/calls'
import { expect, test } from 'vitest'
import { toolCallStarted, call, confirmed, ready } from '../../../test/tool-call-actions.ts'
import { FakeFiles } from '../../../test/fake-files.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import type { Run } from '../../../test/scripted-agent.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  says,
  twoClientSession,
  turn,
} from '../../../test/two-client-session.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import type { Edit } from '../../ports/agent.ts'

/** Sets up a tool call that is approved, or that is not approved yet. */
async function desk(approved = true) {
  const files = new FakeFiles()
  files.put('/a/a.txt', 'one two two')
  files.put('/a/bytes', new Uint8Array([0xff, 0xfe, 0x00]))
  const terminals = fakeTerminals()
  const all = await twoClientSession(new ScriptedAgent(), { machine: { files, terminals } })
  const run = await turn(all, 't1', toolCallStarted(), ready())
  if (approved) await accepted(all.ann, chat, confirmed)
  return { all, files, terminals, run }
}
const textOf = ({ files }: FakeFiles, path = '/a/a.txt') => new TextDecoder().decode(files.get(path))

const problems: readonly (readonly [what: string, path: string, edit: Edit, problem: string])[] = [
  ['a text that is not there', 'a.txt', { find: 'three', put: '3' }, 'the file does not contain that text'],
  ['no text', 'a.txt', { find: '', put: 'x' }, 'the file does not contain that text'],
  [
    'a text that is there twice',
    'a.txt',
    { find: 'two', put: '2' },
    'the file contains that text more than once',
  ],
  [
    'a text of a file that is not there',
    'new',
    { find: 'one', put: '1' },
    'the file does not contain that text',
  ],
  ['bytes that are not text', 'bytes', { find: 'x', put: 'y' }, 'the file is not text'],
  ['a file outside', '/b/a.txt', { text: 'x' }, '"/b/a.txt" is outside the directories of this session'],
  ['a path that leads out', 'x/../../b/a.txt', { text: 'x' }, '"x/../../b/a.txt" is not a valid path'],
]
test.each(problems)('[X3] an edit of %s is neither previewed nor applied', async (_, path, edit, problem) => {
  const { files, run } = await desk()
  await expect(run.chat.files.propose(path, edit)).rejects.toThrow(problem)
  await expect(run.chat.files.apply('c1', path, edit)).rejects.toThrow(problem)
  expect([textOf(files), files.files.size]).toEqual(['one two two', 2])
})

test('[X3.1] [X3] an applied edit equals its preview, and a file that changed meanwhile is not overwritten', async () => {
  const { files, run } = await desk()
  await run.chat.files.apply('c1', 'a.txt', { find: 'one', put: '1' })
  expect(textOf(files)).toBe('1 two two')
  await run.chat.files.apply('c1', 'sub/new', { text: 'x' })
  expect(textOf(files, '/a/sub/new')).toBe('x')
  const writes = files.asked.filter(({ what }) => what.startsWith('write')).map(({ what }) => what)
  expect(writes).toEqual(['write {"ifMatch":"e1"}', 'write {"createOnly":true}'])
  // The parent directory is created with the file, and not before.
  expect(files.changes).toEqual([{ kind: 'make', place: { path: '/a/sub', roots: ['/a'] } }])
})

test('[X3] the preview of a change to a secret file has its counts only, and a wrong guess fails when it is applied', async () => {
  const { files, run } = await desk()
  files.put('/a/.env', 'KEY=hush')
  const guess = (find: string) => run.chat.files.propose('.env', { find, put: 'x' })
  expect(await guess('KEY=wrong')).toMatchObject({ diff: { added: 0, removed: 0 } })
  expect(await guess('KEY=hush')).toMatchObject({ diff: { added: 1, removed: 1 } })
  await expect(run.chat.files.apply('c1', '.env', { find: 'KEY=wrong', put: 'x' })).rejects.toThrow(
    'the file does not contain that text',
  )
})

test('[X3] a preview needs no confirmation, and tells the agent nothing', async () => {
  const { run } = await desk(false)
  const preview = await run.chat.files.propose('a.txt', { find: 'one', put: '1' })
  expect(preview).toMatchObject({ before: { uri: 'file:///a/a.txt' }, diff: { added: 1, removed: 1 } })
  expect(JSON.stringify(preview)).not.toContain('two')
  expect(await run.chat.files.propose('new', { text: 'x' })).not.toHaveProperty('before')
})

const acts: readonly (readonly [what: string, act: (run: Run) => Promise<unknown>])[] = [
  ['run', ({ chat: it }) => it.run({ ...call, line: 'ls' })],
  ['read', ({ chat: it }) => it.files.read('c1', 'a.txt')],
  ['written', ({ chat: it }) => it.files.apply('c1', 'a.txt', { text: 'y' })],
]

test.each(acts)('[X4.1] [X4] nothing is %s for a call that is not answered', async (_, act) => {
  const { files, terminals, run } = await desk(false)
  await expect(act(run)).rejects.toThrow('a tool may act only while its call is running')
  expect([files.asked, terminals.shells]).toEqual([[], []])
})

test.each(acts)(
  '[X4.3] [X4] I17: nothing is %s for a turn that is over, or that ends at the same time',
  async (_, act) => {
    const { all, files, terminals, run } = await desk()
    const early = act(run)
    all.core().jobs.stop(chat)
    await expect(early).rejects.toThrow('the turn is over')
    await accepted(all.ann, chat, cancelled('t1'))
    await expect(act(run)).rejects.toThrow('the turn is over')
    expect([files.asked, terminals.shells]).toEqual([[], []])
  },
)

test('[X4] [I15] a command whose turn ends while its shell starts is ended, and its outcome rejects', async () => {
  const { all, terminals, run } = await desk()
  const begin = terminals.start.bind(terminals)
  let open = () => {}
  const door = new Promise<void>((resolve) => (open = resolve))
  let came = false
  terminals.start = async (...given) => {
    came = true
    await door
    return begin(...given)
  }
  const started = run.chat.run({ ...call, line: 'make' })
  await until(() => came)
  await accepted(all.ann, chat, cancelled('t1'))
  open()
  const { done } = await started
  await expect(done).rejects.toThrow('the turn is over')
  expect(terminals.shells.map(({ ended }) => ended)).toEqual([true])
})

test('[X3.2] [X3] a new content replaces only the content that the preview showed', async () => {
  const files = new FakeFiles()
  files.put('/a/a.txt', 'one')
  const all = await twoClientSession(new ScriptedAgent(), { machine: { files, terminals: fakeTerminals() } })
  const run = await turn(all, 't1', toolCallStarted({ _meta: { own: 1 } }))
  const { propose } = run.chat.files
  const items = [await propose('a.txt', { text: 'new' }), await propose('b.txt', { text: 'b' })]
  await says(all, run, ready({ edits: { items } }))
  await accepted(all.ann, chat, confirmed)
  await run.chat.files.apply('c1', 'b.txt', { text: 'b' })
  expect(textOf(files, '/a/b.txt')).toBe('b')
  files.put('/a/a.txt', 'written by another program')
  const write = () => run.chat.files.apply('c1', 'a.txt', { text: 'new' })
  await expect(write()).rejects.toThrow('the file has changed since its edit was previewed')
  expect(textOf(files)).toBe('written by another program')
  files.files.delete('/a/a.txt')
  await expect(write()).rejects.toThrow('the file has changed since its edit was previewed')
  files.put('/a/a.txt', 'one')
  await write()
  expect(textOf(files)).toBe('new')
  // The agent's own `_meta` of the call is kept.
  expect(callIn(chatOf(all), 'c1')?._meta).toMatchObject({ own: 1 })
})

test('[X3.2] [X3] a file that is new in the preview and exists by now is not overwritten, also after a restart', async () => {
  const files = new FakeFiles()
  const machine = { files, terminals: fakeTerminals() }
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }), { machine })
  const run = await turn(all, 't1', toolCallStarted())
  const edits = { items: [await run.chat.files.propose('new.txt', { text: 'new' })] }
  await says(all, run, ready({ edits }))
  files.put('/a/new.txt', 'not so new')
  const next = new ScriptedAgent({ resumes: true })
  await all.restart('crash', undefined, [next])
  const ann = await all.join('ann', { subscribe: [chat] })
  await accepted(ann, chat, confirmed)
  const again = await next.given(0)
  const done = again.chat.files.apply('c1', 'new.txt', { text: 'new' })
  await expect(done).rejects.toThrow('the file has changed since its edit was previewed')
  expect(textOf(files, '/a/new.txt')).toBe('not so new')
})

test('[X3] an edit that the agent made up by itself has no recorded content before', async () => {
  const { files, run, all } = await desk(false)
  const content = { uri: 'ahp-content:/made-up', sizeHint: 1 }
  const items = [{ before: { uri: 'file:///a/a.txt', content }, after: { uri: 'file:///a/a.txt', content } }]
  await says(all, run, ready({ edits: { items } }))
  await accepted(all.ann, chat, confirmed)
  await run.chat.files.apply('c1', 'a.txt', { text: 'new' })
  expect(textOf(files)).toBe('new')
})

test('[X3] two files with the same new content are told apart', async () => {
  const files = new FakeFiles()
  const all = await twoClientSession(new ScriptedAgent(), { machine: { files, terminals: fakeTerminals() } })
  const run = await turn(all, 't1', toolCallStarted())
  const { propose, apply } = run.chat.files
  const items = [await propose('a.py', { text: '' }), await propose('b.py', { text: '' })]
  await says(all, run, ready({ edits: { items } }))
  await accepted(all.ann, chat, confirmed)
  files.put('/a/a.py', 'written by another program')
  await expect(apply('c1', 'a.py', { text: '' })).rejects.toThrow(
    'the file has changed since its edit was previewed',
  )
  expect(textOf(files, '/a/a.py')).toBe('written by another program')
  await apply('c1', 'b.py', { text: '' })
  expect(textOf(files, '/a/b.py')).toBe('')
})

test('[X3] a preview stays in force when its call asks again without new edits', async () => {
  const files = new FakeFiles()
  files.put('/a/a.txt', 'one')
  const all = await twoClientSession(new ScriptedAgent(), { machine: { files, terminals: fakeTerminals() } })
  const run = await turn(all, 't1', toolCallStarted())
  const edits = { items: [await run.chat.files.propose('a.txt', { text: 'new' })] }
  await says(all, run, ready({ edits }), ready({ _meta: { own: 2 } }))
  await accepted(all.ann, chat, confirmed)
  files.put('/a/a.txt', 'written by another program')
  await expect(run.chat.files.apply('c1', 'a.txt', { text: 'new' })).rejects.toThrow('has changed since')
  expect(callIn(chatOf(all), 'c1')?._meta).toMatchObject({ own: 2 })
})

test('[X1.6] [X3] the `_meta` of the answer of a client does not remove the preview', async () => {
  const files = new FakeFiles()
  files.put('/a/a.txt', 'one')
  const all = await twoClientSession(new ScriptedAgent(), { machine: { files, terminals: fakeTerminals() } })
  const run = await turn(all, 't1', toolCallStarted())
  const edits = { items: [await run.chat.files.propose('a.txt', { text: 'new' })] }
  await says(all, run, ready({ edits, _meta: { own: 1, 'x-atrium.asked': 1 } }))
  await accepted(all.ann, chat, { ...confirmed, _meta: { own: 2, 'x-atrium.asked': 0 } })
  expect(callIn(chatOf(all), 'c1')?._meta).toMatchObject({ own: 2, 'x-atrium.asked': 1 })
  files.put('/a/a.txt', 'written by another program')
  await expect(run.chat.files.apply('c1', 'a.txt', { text: 'new' })).rejects.toThrow('has changed since')
})

test('[X3] writing the same content again is not a conflict', async () => {
  const files = new FakeFiles()
  files.put('/a/a.txt', 'one')
  const all = await twoClientSession(new ScriptedAgent(), { machine: { files, terminals: fakeTerminals() } })
  const run = await turn(all, 't1', toolCallStarted())
  const edits = { items: [await run.chat.files.propose('a.txt', { text: 'new' })] }
  await says(all, run, ready({ edits }))
  await accepted(all.ann, chat, confirmed)
  const write = () => run.chat.files.apply('c1', 'a.txt', { text: 'new' })
  await write()
  await write()
  expect(textOf(files)).toBe('new')
})
