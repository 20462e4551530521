import type { ChatState } from '@atrium/protocol/chat/state'
import { limits } from '@atrium/protocol/limits'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { silentAgent, testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import type { FakeShell } from '../../../test/fake-terminals.ts'
import type { Agent } from '../../ports/agent.ts'

const chat = defaultChatUri('s:/1')
const startedAt = '2026-01-01T00:00:00Z'

async function setUp(begin?: (shell: FakeShell) => void) {
  const prompts: string[] = []
  const agent: Agent = {
    ...silentAgent,
    resumes: true,
    async *run({ state }) {
      prompts.push(state.activeTurn?.message.text ?? '')
      yield { type: 'chat/activityChanged' }
    },
  }
  const terminals = fakeTerminals(begin)
  const all = await testHost({
    agents: [agent],
    machine: { terminals, defaultDirectory: 'file:///home/dev' },
  })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  await ann.ask('createSession', { channel: 's:/1', workingDirectories: ['file:///w'] })
  await ann.ask('subscribe', { channel: chat })
  return { all, ann, terminals, prompts }
}

const say = (client: Client, text: string, turnId = 't1') =>
  client.echo(
    client.dispatch(chat, {
      type: 'chat/turnStarted',
      turnId,
      startedAt,
      message: { text, origin: { kind: 'user' } },
    }),
  )
const state = (client: Client) => client.state(chat) as unknown as ChatState
const ended = (client: Client, turns = 1) => client.until(() => state(client).turns.length === turns)

test('[Y9] [Y9.1] a message that begins with ! is a shell command, and runs in a terminal that all clients see', async () => {
  const { ann, terminals, prompts } = await setUp((shell) => {
    shell.data('\x1b[1mok\x1b[0m\r\n/w')
    shell.exit(0)
  })
  await say(ann, '!echo ok; pwd')
  await ended(ann)
  expect(prompts).toEqual([])
  expect(terminals.shells[0]?.start).toEqual({ cwd: '/w', cols: 120, rows: 30, command: 'echo ok; pwd' })
  const [turn] = state(ann).turns
  expect(turn).toMatchObject({ state: 'complete' })
  expect(turn?.responseParts).toHaveLength(1)
  const [part] = turn?.responseParts ?? []
  if (part?.kind !== 'toolCall' || part.toolCall.status !== 'completed') throw new Error('no call')
  expect(part.toolCall).toMatchObject({
    toolName: 'terminal',
    toolInput: 'echo ok; pwd',
    confirmed: 'not-needed',
    success: true,
    content: [
      { type: 'terminal', isPty: true, result: { exitCode: 0, preview: 'ok\n/w' } },
      { type: 'text', text: 'ok\n/w' },
    ],
  })
  const [shown] = part.toolCall.content ?? []
  if (shown?.type !== 'terminal') throw new Error('no terminal')
  const { resource } = shown
  const { snapshot } = await ann.ask('subscribe', { channel: resource })
  expect(snapshot?.state as TerminalState).toMatchObject({
    lifecycle: { status: 'exited', exitCode: 0 },
    claim: { kind: 'session', session: 's:/1', chat, turnId: 't1' },
  })
})

test('[Y9] [Y9.1] a command that fails is a failed tool call; the turn completes and the chat stays usable', async () => {
  const { ann, prompts } = await setUp((shell) => shell.exit(7))
  await say(ann, '!false')
  await ended(ann)
  const [part] = state(ann).turns[0]?.responseParts ?? []
  expect(part).toMatchObject({
    toolCall: { success: false, error: { message: 'The command ended with 7' } },
  })
  await say(ann, 'hello', 't2')
  await ended(ann, 2)
  expect(prompts).toEqual(['hello'])
})

test('[Y9] [Y9.4] the output of a command says that some of it is missing, if the terminal has dropped it', async () => {
  const { ann } = await setUp((shell) => {
    for (let n = 0; n < 30; n++) shell.data(`${n} ${'x'.repeat(60_000)}\r\n`)
    shell.data('the end')
    shell.exit(0)
  })
  await say(ann, '!cat')
  await ended(ann)
  const [part] = state(ann).turns[0]?.responseParts ?? []
  if (part?.kind !== 'toolCall' || part.toolCall.status !== 'completed') throw new Error('no call')
  const [shown, content] = part.toolCall.content ?? []
  expect(shown).toMatchObject({ result: { truncated: true } })
  if (content?.type !== 'resource') throw new Error('no reference')
  const { data } = await ann.ask('resourceRead', { uri: content.uri })
  expect(data).toMatch(/^\[Some of the output is missing\.\]\nx+\n.*\n29 x+\nthe end$/s)
})

test('[Y9] [Y9.2] cancelling the turn ends the shell', async () => {
  const { ann, terminals } = await setUp()
  await say(ann, '!sleep 1000')
  await ann.until(() => JSON.stringify(state(ann).activeTurn ?? {}).includes('"terminal"'))
  await ann.until(() => terminals.shells.length === 1)
  await ann.echo(ann.dispatch(chat, { type: 'chat/turnCancelled', turnId: 't1', duration: 1 }))
  await ended(ann)
  expect(terminals.shells[0]?.ended).toBe(true)
  await ann.until(() => (ann.state(rootUri)['terminals'] as unknown[]).length === 0)
})

test('[Y9] [Y9.2] a crash during the command leaves an interrupted turn, and nothing runs twice', async () => {
  const { all, ann, terminals } = await setUp()
  await say(ann, '!make')
  await ann.until(() => terminals.shells.length === 1)
  await all.core().log.settled()
  await all.restart('crash')
  const ben = await all.join('ben', { subscribe: [chat] })
  const [turn] = state(ben).turns
  expect(turn?.responseParts.at(-1)).toMatchObject({ kind: 'error', error: { errorType: 'interrupted' } })
  expect(turn?.responseParts.at(-1)).not.toHaveProperty('resumable')
  expect(terminals.shells).toHaveLength(1)
})

test("[Y9] only a user's command runs: not a lone !, not an empty one, not on a host without shells", async () => {
  const { ann, terminals, prompts } = await setUp()
  for (const [n, text] of ['!', '!  ', ' !ls', 'ls !'].entries()) {
    await say(ann, text, `t${n}`)
    await ended(ann, n + 1)
  }
  expect(prompts).toEqual(['!', '!  ', ' !ls', 'ls !'])
  expect(terminals.shells).toEqual([])
  const agent: Agent = { ...silentAgent, async *run() {} }
  const bare = await testHost({ agents: [agent] })
  const ben = await bare.join('ben')
  await ben.ask('createSession', { channel: 's:/1' })
  await ben.ask('subscribe', { channel: chat })
  await say(ben, '!ls')
  await ended(ben)
  expect(state(ben).turns[0]?.responseParts).toEqual([])
})

test('[Y9] a shell that cannot be started fails the turn with its message', async () => {
  const { ann, terminals } = await setUp()
  terminals.trouble = 'there is no shell on this machine'
  await say(ann, '!ls')
  await ended(ann)
  expect(state(ann).turns[0]?.responseParts.at(-1)).toMatchObject({
    error: { errorType: 'terminal', message: 'there is no shell on this machine' },
  })
})

test("[Q7] [S-57 inlineLength] at 65,536 characters a tool's output is in the state", () =>
  output(65_536, false))
test('[Q7] [S-57 inlineLength] past 65,536 it is stored outside the state, and read by its reference', () =>
  output(65_537, true))

async function output(length: number, apart: boolean): Promise<void> {
  expect(limits.inlineLength).toBe(65_536)
  const text = 'ä'.repeat(length)
  const { all, ann } = await setUp((shell) => {
    shell.data(text)
    shell.exit(0)
  })
  await say(ann, '!cat')
  await ended(ann)
  const [part] = state(ann).turns[0]?.responseParts ?? []
  if (part?.kind !== 'toolCall' || part.toolCall.status !== 'completed') throw new Error('no call')
  const content = part.toolCall.content?.[1]
  if (!apart) return expect(content).toEqual({ type: 'text', text })
  if (content?.type !== 'resource') throw new Error('no reference')
  expect(content).toMatchObject({ sizeHint: 2 * length, contentType: 'text/plain; charset=utf-8' })
  const read = (client: Client) => client.ask('resourceRead', { uri: content.uri })
  expect(await read(ann)).toEqual({ data: text, encoding: 'utf-8' })
  await all.restart()
  const ben = await all.join('ben')
  expect(await read(ben)).toEqual({ data: text, encoding: 'utf-8' })
  await ben.ask('disposeSession', { channel: 's:/1' })
  await expect(read(ben)).rejects.toMatchObject({ code: -32008 })
}
