import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import {
  answer,
  approve,
  callsIn,
  chat,
  denied,
  desk,
  ended,
  enter,
  pending,
  say,
  session,
  state,
} from '../../../test/approvals.ts'
import { FakeFiles } from '../../../test/fake-files.ts'
import { silentAgent, testHost } from '../../../test/test-host.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import { choices } from '../access/choices.ts'
import { isProtected } from '../access/protected-files.ts'
import type { Agent, Chat } from '../../ports/agent.ts'

test('[X3.1] [X3] an edit is previewed before it is applied; a file that changed meanwhile is not overwritten', async () => {
  const { ann, files } = await desk()
  const turnId = await say(ann, 'edit a.txt two => 2')
  const call = await pending(ann)
  if (call.status !== 'pending-confirmation') throw new Error('not asked')
  const [edit] = call.edits?.items ?? []
  expect(edit).toMatchObject({ diff: { added: 1, removed: 1 }, before: { uri: 'file:///w/a.txt' } })
  const read = (uri = '') => ann.ask('resourceRead', { uri })
  expect(await read(edit?.before?.content.uri)).toMatchObject({ data: 'one\ntwo\nthree\n' })
  expect(await read(edit?.after?.content.uri)).toMatchObject({ data: 'one\n2\nthree\n' })
  await answer(ann, {})
  expect(callsIn(await ended(ann, turnId))[0]).toMatchObject({ success: true })
  expect(files.asked.at(-1)?.what).toBe('write {"ifMatch":"e1"}')
  expect(new TextDecoder().decode(files.files.get('/w/a.txt'))).toBe('one\n2\nthree\n')
  const [none] = callsIn(await ended(ann, await say(ann, 'edit a.txt nowhere => x')))
  expect(none).toMatchObject({ success: false, error: { message: 'the file does not contain that text' } })
})

test('[X3.4] [X3.5] [X3] a completed edit keeps the file before and after it, and says what it did in Markdown', async () => {
  const { ann } = await desk()
  const [edit] = callsIn(await ended(ann, await approve(ann, 'edit a.txt two => 2', choices.once)))
  if (edit?.status !== 'completed') throw new Error('not completed')
  expect(edit).toMatchObject({
    intention: 'Edit a.txt',
    invocationMessage: { markdown: 'Edit `a.txt`' },
    pastTenseMessage: { markdown: 'Wrote `a.txt`' },
  })
  const [shown] = edit.content ?? []
  if (shown?.type !== 'fileEdit') throw new Error('no file edit')
  expect(shown.diff).toEqual({ added: 1, removed: 1 })
  for (const side of [shown.before, shown.after]) expect(side?.content.uri).toMatch(/\/a\.txt\?/)
  const read = (uri = '') => ann.ask('resourceRead', { uri })
  expect(await read(shown.before?.content.uri)).toMatchObject({ data: 'one\ntwo\nthree\n' })
  expect(await read(shown.after?.content.uri)).toMatchObject({ data: 'one\n2\nthree\n' })
  const [created] = callsIn(await ended(ann, await approve(ann, 'write new.txt hello', choices.once)))
  expect(created).toMatchObject({ content: [{ type: 'fileEdit', diff: { added: 1 } }] })
  expect(created).not.toHaveProperty('content.0.before')
})

test('[X3.3] [X3] S-35: writing a protected file is asked for every time, in any spelling', async () => {
  const { ann } = await desk()
  await ended(ann, await approve(ann, 'write new.txt hello', choices.session))
  expect(callsIn(await ended(ann, await say(ann, 'write other.txt hello')))[0]).toMatchObject({
    confirmed: 'setting',
  })
  for (const path of [
    '.git/config',
    '.GIT/hooks/pre-commit',
    'sub/.vscode/settings.json',
    'Package.json',
    '.mcp.json',
  ]) {
    const turnId = await say(ann, `write ${path} x`)
    expect(await pending(ann), path).toMatchObject({ toolName: 'write' })
    await answer(ann, denied)
    await ended(ann, turnId)
  }
  const spelled = ['.git', '.GIT', '.git.', '.git ', '．git', 'a/.git/x', '.bashrc', 'PACKAGE.JSON']
  expect(
    spelled.filter((name) => !isProtected(`file:///w/${encodeURIComponent(name).replaceAll('%2F', '/')}`)),
  ).toEqual([])
  expect(['file:///w/gitty', 'file:///w/src/package.ts'].filter(isProtected)).toEqual([])
})

test('[X4] a tool reaches no file outside its session, even where clients have grants', async () => {
  const { ann, files } = await desk()
  const grants = [{ uri: 'file:///', write: true }]
  await ann.echo(ann.dispatch(rootUri, { type: 'root/configChanged', config: { 'atrium.grants': grants } }))
  for (const path of ['/etc/passwd', '../../x', 'a/../../x'])
    for (const verb of [`read ${path}`, `write ${path} x`]) {
      const turnId = await say(ann, verb)
      await ann.until(
        () =>
          state(ann).activeTurn === undefined ||
          callsIn(state(ann).activeTurn)[0]?.status === 'pending-confirmation',
      )
      if (state(ann).activeTurn) await answer(ann, {})
      const [call] = callsIn(await ended(ann, turnId))
      expect(call, verb).toMatchObject({ success: false })
    }
  expect(files.asked).toEqual([])
})

test('[X4.1] [X4.2] [X4] I7: an agent that confirms its own call, or does not wait, cannot act', async () => {
  const terminals = fakeTerminals()
  const files = new FakeFiles()
  files.put('/w/a.txt', 'x')
  const outcomes: string[] = []
  const hasty = (confirmed: object, act: (chat: Chat) => Promise<unknown>): Agent => ({
    ...silentAgent,
    async *run(it) {
      yield { type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'run', displayName: 'Run' }
      yield {
        type: 'chat/toolCallReady',
        toolCallId: 'c',
        invocationMessage: 'ls',
        toolInput: 'ls',
        ...confirmed,
      }
      await act(it).catch((error: Error) => outcomes.push(error.message))
    },
  })
  const acts: readonly ((chat: Chat) => Promise<unknown>)[] = [
    (it) => it.run({ toolCallId: 'c', line: 'ls' }),
    (it) => it.run({ toolCallId: 'other', line: 'ls' }),
    (it) => it.files.apply('c', 'a.txt', { text: 'y' }),
  ]
  for (const confirmed of [{ confirmed: 'not-needed' }, {}])
    for (const act of acts) {
      const all = await testHost({ agents: [hasty(confirmed, act)], machine: { terminals, files } })
      const ann = await enter(all, 'ann')
      await ann.ask('createSession', { channel: session, workingDirectories: ['file:///w'] })
      await ann.ask('subscribe', { channel: chat })
      await ended(ann, await say(ann, 'go'))
    }
  expect(outcomes).toHaveLength(6)
  expect(new Set(outcomes)).toEqual(
    new Set(['nobody has approved this tool call', 'a tool may act only while its call is running']),
  )
  expect([terminals.shells, files.asked]).toEqual([[], []])
})
