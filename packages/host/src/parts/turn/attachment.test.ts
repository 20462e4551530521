import type { MessageAttachment } from '@atrium/protocol/chat/message'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client, TestHostOptions } from '../../../test/test-host.ts'
import {
  chat,
  chatOf,
  message,
  session,
  started,
  oneClientSession,
} from '../../../test/one-client-session.ts'
import type { Chat } from '../../ports/agent.ts'

const word = (text: string) =>
  ({ type: 'chat/responsePart', part: { kind: 'markdown', id: text, content: text } }) as const

/** An agent in a turn, in a session with the working directory /w. */
async function working(options: TestHostOptions = {}) {
  const files = new FakeFiles()
  files.put('/w/a.txt', 'hello')
  files.put('/w/b.png', new Uint8Array([0x89, 0x50, 0x00, 0xff]))
  files.put('/etc/passwd', 'root')
  const agent = new ScriptedAgent()
  const { all, ann } = await oneClientSession(agent, { machine: { files }, ...options })
  await ann.echo(ann.dispatch(session, { type: 'session/workingDirectorySet', directory: 'file:///w' }))
  ann.dispatch(chat, started('t1'))
  const run = await agent.given()
  const read = (attachment: object) => run.chat.read({ label: 'x', ...attachment } as MessageAttachment)
  return { all, ann, agent, run, read, files }
}

/** A whole turn in another chat. */
async function completeTurn(
  client: Client,
  agent: ScriptedAgent,
  uri: string,
  { turnId, text }: { readonly turnId: string; readonly text: string },
): Promise<void> {
  const nth = agent.runs.length
  client.dispatch(uri, started(turnId, `ask ${text}`))
  const run = await agent.given(nth)
  run.say(word(text))
  run.end()
  await client.until(() => chatOf(client, uri).turns.some(({ id }) => id === turnId))
}

const failed = (text: string) => ({ name: 'TurnFailed', errorType: 'attachment', message: text })

test('[J5.1] [J5] a simple attachment is its model representation, else its label', async () => {
  const { read } = await working()
  expect(await read({ type: 'simple', modelRepresentation: 'text' })).toEqual({
    data: 'text',
    encoding: 'utf-8',
  })
  expect(await read({ type: 'simple', modelRepresentation: '' })).toEqual({ data: '', encoding: 'utf-8' })
  expect(await read({ type: 'simple', label: 'just this' })).toEqual({ data: 'just this', encoding: 'utf-8' })
})

test('[J5.1] [J5] an embedded resource is text where its bytes are UTF-8', async () => {
  const { read } = await working()
  const embedded = (data: string, contentType: string) =>
    read({ type: 'embeddedResource', data, contentType })
  expect(await embedded('aGk=', 'text/plain')).toEqual({
    data: 'hi',
    encoding: 'utf-8',
    contentType: 'text/plain',
  })
  const png = { data: 'iVAA/w==', encoding: 'base64', contentType: 'image/png' }
  expect(await embedded('iVAA/w==', 'image/png')).toEqual(png)
  await expect(embedded('no base64', 'text/plain')).rejects.toMatchObject(
    failed('"x": the embedded data is not base64'),
  )
})

test('[J5.1] [J5] an agent reads the files that clients may read, and no others', async () => {
  const { read, files } = await working()
  const text = { data: 'hello', encoding: 'utf-8', contentType: 'text/plain' }
  expect(await read({ type: 'resource', uri: 'file:///w/a.txt' })).toEqual(text)
  expect(await read({ type: 'resource', uri: 'file:///w/b.png' })).toMatchObject({ encoding: 'base64' })
  const before = files.asked.length
  const outside =
    '"x": this is outside the sessions’ directories and the granted ones: it must be granted first'
  for (const uri of ['file:///etc/passwd', 'file:///wa.txt'])
    await expect(read({ type: 'resource', uri })).rejects.toMatchObject(failed(outside))
  for (const uri of ['file:///w/../etc/passwd', 'file://host/w/a.txt', 'file:///w/%2fx', 'file:'])
    await expect(read({ type: 'resource', uri })).rejects.toMatchObject({ name: 'TurnFailed' })
  expect(files.asked).toHaveLength(before)
  await expect(read({ type: 'resource', uri: 'file:///w/none' })).rejects.toMatchObject(
    failed('"x": there is no such file'),
  )
})

test('[J5.1] [J5] a client file is requested from the client that owns it, and from no other', async () => {
  const { ann, run, agent } = await working()
  const uri = 'untitled:/one'
  ann.answerRequest = (method, params) => ({
    data: `${method} ${(params as { uri: string }).uri}`,
    encoding: 'utf-8',
  })
  const own = { type: 'resource', uri, label: 'x' } as const
  run.end()
  await ann.until(() => chatOf(ann).turns.length === 1)
  ann.dispatch(chat, { ...started('t2'), message: { ...message('go'), attachments: [own] } })
  const { chat: given } = await agent.given(1)
  expect(await given.read(own)).toEqual({ data: `resourceRead ${uri}`, encoding: 'utf-8' })
  await expect(given.read({ ...own, uri: 'untitled:/two' })).rejects.toMatchObject(
    failed('"x": no other connected client that can be asked has "untitled:/two"'),
  )
  ann.peer.close()
  await until(() => run.signal.aborted)
  await expect(given.read(own)).rejects.toMatchObject({ name: 'TurnFailed' })
})

test('[J5] S-10: a file of a client of another principal is not found', async () => {
  const { all, read } = await working()
  const eve = await all.join('eve', { principal: 'eve', subscribe: [chat] })
  eve.answerRequest = () => ({ data: 'of eve', encoding: 'utf-8' })
  const uri = 'untitled:/eve'
  const draft = { ...message('x'), attachments: [{ type: 'resource', uri, label: 'x' }] }
  await eve.echo(eve.dispatch(chat, { type: 'chat/draftChanged', draft }))
  await expect(read({ type: 'resource', uri })).rejects.toMatchObject(
    failed(`"x": no other connected client that can be asked has "${uri}"`),
  )
})

test('[J5] a host without files says so; a missing resource is not found', async () => {
  const { read } = await working({ machine: {} })
  await expect(read({ type: 'resource', uri: 'file:///w/a.txt' })).rejects.toMatchObject(
    failed('"x": this host serves no files'),
  )
  await expect(read({ type: 'annotations', resource: 's:/9/annotations' })).rejects.toMatchObject(
    failed('"x": there are no such annotations'),
  )
  await expect(read({ type: 'x-later' })).rejects.toMatchObject(
    failed('"x": this host does not know this kind of attachment'),
  )
  await expect(read({ type: 'resource', uri: 'ahp-content:/none' })).rejects.toMatchObject({
    name: 'TurnFailed',
  })
})

test('[J5.1] [J5] stored content is read, too', async () => {
  const { run, read, ann } = await working({ limits: { inlineLength: 5 } })
  const content = [{ type: 'text', text: 'long output' }]
  run.say(
    { type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'x', displayName: 'X' },
    { type: 'chat/toolCallReady', toolCallId: 'c', invocationMessage: 'X', confirmed: 'not-needed' },
    { type: 'chat/toolCallContentChanged', toolCallId: 'c', content } as never,
  )
  const uriOf = () => /ahp-content:[^"]+/.exec(JSON.stringify(chatOf(ann)))?.[0]
  await ann.until(() => uriOf() !== undefined)
  expect(await read({ type: 'resource', uri: uriOf() })).toMatchObject({ data: 'long output' })
})

test('[J6] a chat is read up to the turn that it was pinned to', async () => {
  const { ann, agent, read } = await working()
  const other = 'ahp-chat:/other'
  await ann.ask('createChat', { channel: session, chat: other })
  await ann.ask('subscribe', { channel: other })
  for (const n of ['1', '2', '3'])
    await completeTurn(ann, agent, other, { turnId: `o${n}`, text: `word ${n}` })
  const ref = { type: 'chat', resource: other }
  const { data } = await read({ ...ref, endTurn: 'o2' })
  expect(data).toBe('# User\n\nask word 1\n\n# Agent\n\nword 1\n\n# User\n\nask word 2\n\n# Agent\n\nword 2')
  expect((await read({ ...ref, endTurn: 'o3' })).data).toContain('word 3')
  expect((await read({ ...ref, endTurn: 'o1' })).data).not.toContain('word 2')
  // The chat had no completed turn when the message was sent.
  expect(await read(ref)).toEqual({ data: '', encoding: 'utf-8' })
  await ann.echo(ann.dispatch(other, { type: 'chat/truncated', turnId: 'o1' }))
  await expect(read({ ...ref, endTurn: 'o2' })).rejects.toMatchObject(
    failed('"x": the turn that the attachment ends with was removed'),
  )
  await expect(read({ type: 'chat', resource: 'ahp-chat:/none' })).rejects.toMatchObject(
    failed('"x": no such chat'),
  )
  await expect(read({ type: 'chat', resource: session })).rejects.toMatchObject(failed('"x": no such chat'))
})

test('[J6.3] [J6] a chat of another session may be read, one of another principal may not', async () => {
  const agent = new ScriptedAgent()
  const all = await testHost({ agents: [agent] })
  const uris = ['ahp-session:/a', 'ahp-session:/b', 'ahp-session:/eve']
  const eve = await all.join('eve', { principal: 'eve' })
  const ann = await all.join('ann')
  const chats: string[] = []
  for (const channel of uris) {
    const client = channel.endsWith('eve') ? eve : ann
    await client.ask('createSession', { channel })
    await client.ask('subscribe', { channel })
    const { defaultChat = '' } = client.state(channel) as { defaultChat?: string }
    chats.push(defaultChat)
    await client.ask('subscribe', { channel: defaultChat })
    await client.until(() => client.state(channel)['lifecycle'] === 'ready')
    await completeTurn(client, agent, defaultChat, { turnId: 't1', text: `of ${channel}` })
  }
  const [a = '', b = '', foreign = ''] = chats
  ann.dispatch(a, started('t2'))
  const { chat: given } = await agent.given(3)
  const read = (resource: string) => given.read({ type: 'chat', label: 'x', resource, endTurn: 't1' })
  expect((await read(b)).data).toContain('of ahp-session:/b')
  expect((await read(a)).data).toContain('of ahp-session:/a')
  await expect(read(foreign)).rejects.toMatchObject(failed('"x": no such chat'))
})

test('[J6] turns that are not in memory are read, and are not kept in memory', async () => {
  const agent = new ScriptedAgent()
  const { all, ann } = await oneClientSession(agent)
  for (let n = 0; n < 120; n++) await completeTurn(ann, agent, chat, { turnId: `t${n}`, text: `word ${n}.` })
  await all.restart()
  const ben = await all.join('ben', { subscribe: [session] })
  await ben.ask('createChat', { channel: session, chat: 'ahp-chat:/new', initialMessage: message('go') })
  const { chat: given } = await agent.given(120)
  const read = async (endTurn: string) =>
    (await given.read({ type: 'chat', label: 'x', resource: chat, endTurn })).data
  const whole = await read('t119')
  expect(whole.match(/# Agent/g)).toHaveLength(120)
  expect(whole.startsWith('# User\n\nask word 0.')).toBe(true)
  expect((await read('t10')).match(/# Agent/g)).toHaveLength(11)
  expect(all.core().log.channel(chat)?.olderRows).toBe(70)
})

test('[J6] a turn that completes while older ones are read is left out', async () => {
  const agent = new ScriptedAgent()
  const { all, ann } = await oneClientSession(agent, { tail: 1 })
  for (let n = 1; n <= 30; n++) await completeTurn(ann, agent, chat, { turnId: `t${n}`, text: `word ${n}` })
  await all.restart()
  const ben = await all.join('ben', { subscribe: [session] })
  await ben.ask('createChat', { channel: session, chat: 'ahp-chat:/new', initialMessage: message('go') })
  const { chat: given } = await agent.given(30)
  await ben.ask('subscribe', { channel: chat, view: { turns: 1 } })
  const { log } = all.store()
  const { rows } = log
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let asked = false
  log.rows = async (...params) => ((asked = true), await held, rows(...params))
  const text = given.read({ type: 'chat', label: 'x', resource: chat, endTurn: 't30' })
  await until(() => asked)
  await completeTurn(ben, agent, chat, { turnId: 't31', text: 'word 31' })
  release()
  const lines = (await text).data.match(/^word \d+$/gm)
  expect([lines?.length, lines?.at(-1)]).toEqual([30, 'word 30'])
})

test('[J5.3] [J5] nothing is read for a turn that is over', async () => {
  const { ann, run, read } = await working()
  run.end()
  await ann.until(() => chatOf(ann).turns.length === 1)
  await expect(read({ type: 'simple', label: 'x' })).rejects.toThrow('the turn is over')
})

test('[J5.2] [J5] an attachment that cannot be read fails the turn with that message, unless the agent catches it', async () => {
  const { ann, run } = await working()
  const refusal = (given: Chat) =>
    given.read({ type: 'resource', uri: 'file:///etc/passwd', label: 'secret' })
  await refusal(run.chat).catch((error: unknown) => run.fail(error))
  await ann.until(() => chatOf(ann).turns.length === 1)
  expect(chatOf(ann).turns[0]?.responseParts).toMatchObject([
    {
      error: {
        errorType: 'attachment',
        message: expect.stringContaining('"secret": this is outside the sessions'),
      },
    },
  ])
})
