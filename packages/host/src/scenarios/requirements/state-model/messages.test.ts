import { expect, test } from 'vitest'
import { FakeFiles } from '../../../../test/fake-files.ts'
import { ScriptedAgent } from '../../../../test/scripted-agent.ts'
import type { Value } from '../../../../test/versions/older-client.ts'
import {
  begins,
  does,
  ends,
  fresh,
  olderClients,
  olderSession,
} from '../../../../test/versions/older-session.ts'

const version = '0.1.0'
const range = { start: { line: 0, character: 4 }, end: { line: 0, character: 9 } }
const selection = { range: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } } }
const meta = { _meta: { from: 'completions', deep: { list: [1, null, 'x'] } } }

/** An attachment of each kind of 0.1, with every member, and with a word and a member that no version has. */
const attachments = [
  { type: 'simple', label: 'Idea', modelRepresentation: 'An idea', range, displayKind: 'document', ...meta },
  { type: 'embeddedResource', label: 'Pasted', data: 'aGk=', contentType: 'text/plain', selection, ...meta },
  { type: 'embeddedResource', label: 'Photo', data: 'AAEC', contentType: 'image/png', displayKind: 'image' },
  { type: 'resource', label: 'main.ts', uri: 'file:///w/main.ts', displayKind: 'selection', selection },
  { type: 'resource', label: 'logo', uri: 'file:///w/logo.png', contentType: 'image/png', sizeHint: 12 },
  { type: 'resource', label: 'src', uri: 'file:///w/src', displayKind: 'directory' },
  { type: 'simple', label: 'run()', modelRepresentation: '', displayKind: 'symbol' },
  { type: 'simple', label: 'Odd', modelRepresentation: 'x', displayKind: 'hologram', 'x-own': { a: 1 } },
]

async function withFiles() {
  const files = new FakeFiles()
  files.put('/w/main.ts', 'one\ntwo\n')
  files.put('/w/src/a.ts', '')
  const params = { workingDirectory: 'file:///w' }
  return olderSession(version, { machine: { files }, params })
}

test('[R000-63 R000-64 R000-65 R000-66 R000-67 R000-68 R000-69 R000-70 R000-71 R000-72 R000-73 R000-75 R001-54 R001-55 R001-56 R001-57 R001-58 R001-59 R001-60 R001-65 R001-66 R001-68 R001-69] agent and clients get a message with each kind of attachment as it was sent', async () => {
  const all = await withFiles()
  const { ann, ben, session } = all
  const text = 'see @main.ts 😀'
  await does(ann, session, begins(ann, 't1', text, { attachments }))
  const run = await all.agent.given(0)
  expect(run.chat.state.activeTurn?.message).toMatchObject({ text, attachments })
  await ends(all, run)
  const userMessage = { text, attachments }
  expect(ben.state(session)['turns']).toMatchObject([{ userMessage }])
  const [turn] = (await fresh(all, session))['turns'] as readonly Value[]
  expect(turn?.['userMessage']).toEqual(userMessage)
})

test('[R000-74 R000-76 R001-61 R001-64 R001-67] an agent gets what a producer describes, small content in base64, and reads a reference on demand; a client reads it too', async () => {
  const all = await withFiles()
  const { ann, ben, session } = all
  await does(ann, session, begins(ann, 't1', 'see', { attachments }))
  const run = await all.agent.given(0)
  const [idea, pasted, photo, file] = run.chat.state.activeTurn?.message.attachments ?? []
  if (!idea || !pasted || !photo || !file) throw new Error('an attachment is lost')
  expect(idea).toMatchObject({ modelRepresentation: 'An idea' })
  expect(await run.chat.read(pasted)).toMatchObject({ data: 'hi', encoding: 'utf-8' })
  expect(await run.chat.read(photo)).toMatchObject({ data: 'AAEC', encoding: 'base64' })
  expect(await run.chat.read(file)).toMatchObject({ data: 'one\ntwo\n', encoding: 'utf-8' })
  expect(JSON.stringify(ben.state(session))).not.toContain('two')
  const read = await ben.ask('resourceRead', { uri: 'file:///w/main.ts', encoding: 'utf-8' })
  expect(read).toMatchObject({ data: 'one\ntwo\n', encoding: 'utf-8' })
})

test('[R000-77 R000-78 R000-79 R000-80 R000-81 R000-82 R000-83 R000-84 R000-85 R000-86 R001-60 R001-63] completions of a session: items with a range and an attachment, which comes back whole with the message', async () => {
  const files = new FakeFiles()
  files.put('/w/src/main.ts', '')
  const agent = new ScriptedAgent()
  Object.assign(agent, { commands: async () => [{ name: 'plan', description: 'a plan' }] })
  const { all, ann, session } = await olderClients(version, { machine: { files }, agents: [agent] })
  const late = await ann.reconnect([])
  expect(late['type']).toBe('replay')
  const raw = all.link()
  const opened = await raw.peer.request('initialize', { protocolVersions: [version], clientId: 'raw' })
  expect(opened).toMatchObject({ completionTriggerCharacters: ['@', '#', '/'] })
  await ann.createSession(session, { workingDirectory: 'file:///w' })
  await ann.subscribe(session)
  const complete = async (text: string, offset = text.length) =>
    (await ann.ask('completions', { kind: 'userMessage', text, offset }, session))[
      'items'
    ] as readonly Value[]
  // The offset counts UTF-16 units, of which the emoji has two.
  const [file] = await complete('😀 @main and more', 8)
  expect(file).toMatchObject({
    insertText: expect.stringContaining('main.ts'),
    rangeStart: 3,
    rangeEnd: 8,
    attachment: { type: 'resource', label: expect.any(String), uri: 'file:///w/src/main.ts' },
  })
  const [command] = await complete('/pl')
  expect(command?.['attachment']).toMatchObject({
    type: 'simple',
    _meta: { command: 'plan', description: 'a plan' },
  })
  expect(await complete('nothing here')).toEqual([])
  const typed = '/pl'
  const text =
    typed.slice(0, Number(command?.['rangeStart'])) +
    String(command?.['insertText']) +
    typed.slice(Number(command?.['rangeEnd']))
  const taken = [command?.['attachment'], file?.['attachment']]
  await does(ann, session, begins(ann, 't1', text, { attachments: taken }))
  const run = await agent.given(0)
  expect(run.chat.state.activeTurn?.message).toMatchObject({ text: '/plan', attachments: taken })
  expect(ann.state(session)['activeTurn']).toMatchObject({
    userMessage: { text: '/plan', attachments: taken },
  })
})
