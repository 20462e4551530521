import type { Action } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import type { RootState } from '@atrium/protocol/root/state'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { testHost } from '../../../test/test-host.ts'
import type { Client, TestHostOptions } from '../../../test/test-host.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import type { FakeShell } from '../../../test/fake-terminals.ts'
import { forgetTerminal, openTerminal } from './terminal.ts'

const uri = 'ahp-terminal:/1'
const mine = (clientId: string) => ({ kind: 'client', clientId }) as const
const input = (data: string) => ({ type: 'terminal/input', data })
const claimed = (claim: object) => ({ type: 'terminal/claimed', claim })

async function shared(options: TestHostOptions = {}) {
  const terminals = fakeTerminals()
  const all = await testHost({ ...options, machine: { terminals, defaultDirectory: 'file:///home/dev' } })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  const ben = await all.join('ben', { subscribe: [rootUri] })
  await ann.ask('createTerminal', { channel: uri, claim: mine('ann'), cwd: 'file:///home/dev/x' })
  await Promise.all([ann, ben].map((client) => client.ask('subscribe', { channel: uri })))
  const shell = terminals.shells[0] as FakeShell
  return { all, ann, ben, shell, terminals }
}

const reason = async (client: Client, action: Action & Record<string, unknown>, channel = uri) =>
  (await client.echo(client.dispatch(channel, action))).rejectionReason
const state = (client: Client) => client.state(uri) as unknown as TerminalState
const listed = (client: Client) => (client.state(rootUri) as unknown as RootState).terminals

test('[Y1] [Y2] [Y1.1] a terminal is created and listed, then its shell starts; its output reaches all subscribers', async () => {
  const { ann, ben, shell } = await shared()
  expect(shell.start).toEqual({ cwd: '/home/dev/x', cols: 80, rows: 24 })
  const info = { resource: uri, title: 'Terminal', claim: mine('ann'), lifecycle: { status: 'running' } }
  expect(listed(ben)).toEqual([info])
  shell.data('$ ')
  shell.say({ type: 'terminal/commandDetectionAvailable' })
  shell.say({ type: 'terminal/commandExecuted', commandId: 'c1', commandLine: 'ls', timestamp: 1 })
  shell.data('a b\r\n')
  shell.say({ type: 'terminal/commandFinished', commandId: 'c1', exitCode: 0, durationMs: 2 })
  shell.exit(3)
  for (const client of [ann, ben]) {
    await client.until(() => state(client).lifecycle.status === 'exited')
    expect(state(client)).toEqual({
      title: 'Terminal',
      cwd: 'file:///home/dev/x',
      cols: 80,
      rows: 24,
      isPty: true,
      claim: mine('ann'),
      supportsCommandDetection: true,
      lifecycle: { status: 'exited', exitCode: 3 },
      content: [
        { type: 'unclassified', value: '$ ' },
        {
          type: 'command',
          commandId: 'c1',
          commandLine: 'ls',
          output: 'a b\r\n',
          timestamp: 1,
          isComplete: true,
          exitCode: 0,
          durationMs: 2,
        },
      ],
    })
    await client.until(() => listed(client)?.[0]?.lifecycle.status === 'exited')
  }
})

test('[Y1] [Y1.1] an invalid request for a terminal is refused with the reason, and creates none', async () => {
  const { all, ann, terminals } = await shared()
  const ask = (params: object) =>
    ann.ask('createTerminal', { channel: 'ahp-terminal:/2', claim: mine('ann'), ...params } as never)
  const session = { kind: 'session', session: 's:/1', chat: 'c:/1' }
  for (const [params, code] of [
    [{ channel: uri }, -32010],
    [{ channel: rootUri }, -32010],
    [{ claim: mine('nobody') }, -32602],
    [{ claim: session }, -32602],
    [{ cols: 0 }, -32602],
    [{ rows: 1e6 }, -32602],
    [{ cwd: 'file:///etc' }, -32009],
    [{ cwd: 'file:///home/dev2' }, -32009],
    [{ cwd: 'file:///home/dev/../x' }, -32602],
    [{ cwd: 'https://example.com/' }, -32602],
  ] as const)
    await expect(ask(params), JSON.stringify(params)).rejects.toMatchObject({ code })
  terminals.trouble = 'there is no shell on this machine'
  await expect(ask({})).rejects.toMatchObject({ code: -32011, message: 'there is no shell on this machine' })
  expect(terminals.shells).toHaveLength(1)
  expect(listed(ann)).toHaveLength(1)
  expect(all.core().jobs.pending).toEqual([uri])
  terminals.trouble = undefined
  await expect(ask({})).rejects.toMatchObject({ code: -32010 })
})

test('[Y1.2] a host without shells has neither the method nor the command prefix', async () => {
  const all = await testHost()
  const ann = all.link()
  expect(await ann.initialize('ann')).not.toHaveProperty('terminalCommandPrefix')
  const asked = ann.ask('createTerminal', { channel: uri, claim: mine('ann') })
  await expect(asked).rejects.toMatchObject({ code: -32601 })
})

test('[Y4] [Y4.2] S-17, S-33: only the holder of a terminal sends input, and input is not stored', async () => {
  const { all, ann, ben, shell } = await shared()
  expect(await reason(ann, input('secret word\r'))).toBeUndefined()
  expect(await reason(ben, input('mine\r'))).toBe('this terminal is held by another client')
  expect(shell.typed).toEqual(['secret word\r'])
  await all.core().log.settled()
  await all.host().close()
  const { envelopes } = await all.store().log.read([uri], 0, Number.MAX_SAFE_INTEGER)
  const loaded = await all.store().log.load(uri, 10)
  expect(JSON.stringify([envelopes, loaded])).not.toContain('secret')
})

test('[Y4] [Y4.1] a claim is passed on by its holder; the claim of a disconnected client or of a session, by any client', async () => {
  const { all, ann, ben, shell } = await shared()
  expect(await reason(ben, claimed(mine('ben')))).toBe('this terminal is held by another client')
  expect(await reason(ann, claimed(mine('nobody')))).toBe('there is no such client')
  expect(await reason(ann, claimed(mine('ben')))).toBeUndefined()
  await ben.until(() => (listed(ben)?.[0]?.claim as { clientId?: string } | undefined)?.clientId === 'ben')
  expect(await reason(ann, input('x'))).toBe('this terminal is held by another client')
  expect(await reason(ben, input('y'))).toBeUndefined()
  ben.peer.close()
  while (all.core().clients.links.has('ben')) await ann.ask('ping', {})
  expect(await reason(ann, claimed(mine('ann')))).toBeUndefined()
  await ann.ask('createSession', { channel: 's:/1' })
  const session = { kind: 'session', session: 's:/1', chat: defaultChatUri('s:/1') }
  expect(await reason(ann, claimed({ ...session, chat: 'c:/no' }))).toBe('the session has no such chat')
  expect(await reason(ann, claimed(session))).toBeUndefined()
  expect(await reason(ann, input('z'))).toBe('this terminal is held by a session: claim it first')
  expect(await reason(ann, { type: 'terminal/resized', cols: 100, rows: 30 })).toBeUndefined()
  expect(await reason(ann, claimed(mine('ann')))).toBeUndefined()
  expect(shell.typed).toEqual(['y'])
  expect(shell.sizes).toEqual([[100, 30]])
})

test('[Y4] [Y4.3] size, title and clearing: by the holder, within limits; a title set by a client stays', async () => {
  const { ann, ben, shell } = await shared()
  const resized = (cols: number) => ({ type: 'terminal/resized', cols, rows: 24 })
  expect(await reason(ben, resized(90))).toBe('this terminal is held by another client')
  expect(await reason(ann, resized(0))).toMatch(/1 to 1000/)
  expect(await reason(ann, resized(90))).toBeUndefined()
  shell.say({ type: 'terminal/titleChanged', title: 'bash' })
  await ben.until(() => listed(ben)?.[0]?.title === 'bash')
  expect(await reason(ben, { type: 'terminal/titleChanged', title: 'build' })).toBeUndefined()
  shell.say({ type: 'terminal/titleChanged', title: 'vim' })
  shell.data('x')
  expect(await reason(ben, { type: 'terminal/cleared' })).toBe('this terminal is held by another client')
  expect(await reason(ann, { type: 'terminal/cleared' })).toBeUndefined()
  expect(state(ann)).toMatchObject({ title: 'build', cols: 90, content: [] })
  shell.exit(0)
  await ann.until(() => state(ann).lifecycle.status === 'exited')
  expect(await reason(ann, input('x'))).toBe('the shell of this terminal has ended')
  expect(await reason(ann, resized(91))).toBeUndefined()
  expect(shell.sizes).toEqual([[90, 24]])
})

test('[Y6] the final screen can be read after a restart; a terminal that was running says that it was ended', async () => {
  const { all, ann, shell } = await shared()
  shell.data('the end\r\n')
  shell.exit(0)
  await ann.ask('createTerminal', { channel: 'ahp-terminal:/2', claim: mine('ann') })
  await all.restart('crash')
  const cat = await all.join('cat', { subscribe: [rootUri, uri, 'ahp-terminal:/2'] })
  expect(state(cat)).toMatchObject({
    lifecycle: { status: 'exited', exitCode: 0 },
    content: [{ type: 'unclassified', value: 'the end\r\n' }],
  })
  const lost = cat.state('ahp-terminal:/2') as unknown as TerminalState
  expect(lost.lifecycle).toEqual({ status: 'exited' })
  expect(JSON.stringify(lost.content)).toMatch(/The host was stopped/)
  expect(listed(cat)?.map(({ lifecycle }) => lifecycle.status)).toEqual(['exited', 'exited'])
  expect(all.core().jobs.pending).toEqual([])
  await all.restart('close')
  const dan = await all.join('dan', { subscribe: [uri, 'ahp-terminal:/2'] })
  expect([dan.state(uri), dan.state('ahp-terminal:/2')]).toEqual([cat.state(uri), lost])
})

test('[Y8] [F-47] a host that stops ends its shells and stores their screens', async () => {
  const { all, shell } = await shared()
  shell.data('still here')
  await all.host().close()
  expect(shell.ended).toBe(true)
  await all.restart()
  const cat = await all.join('cat', { subscribe: [uri] })
  expect(state(cat)).toMatchObject({
    lifecycle: { status: 'exited', exitCode: 129 },
    content: [{ value: 'still here' }],
  })
})

test('[S-57 endMs] at 1,500 ms a stopping host still waits for its shells', () => stubborn(1499, false))
test('[S-57 endMs] past 1,500 ms it waits no longer', () => stubborn(1500, true))

async function stubborn(ms: number, closed: boolean): Promise<void> {
  const { all, shell } = await shared()
  shell.end = () => new Promise(() => {})
  let over = false
  const closing = all
    .host()
    .close()
    .then(() => {
      over = true
    })
  all.world.advance(ms)
  if (closed) await closing
  await new Promise((resolve) => setImmediate(resolve))
  expect(over).toBe(closed)
}

test('[Y7] a terminal is disposed of, running or not; its URI is not used again', async () => {
  const { all, ann, ben, shell } = await shared()
  await ben.ask('disposeTerminal', { channel: uri })
  expect(shell.ended).toBe(true)
  await ann.until(() => listed(ann)?.length === 0)
  await expect(ann.ask('subscribe', { channel: uri })).rejects.toMatchObject({ code: -32008 })
  await expect(ann.ask('disposeTerminal', { channel: uri })).rejects.toMatchObject({ code: -32008 })
  await expect(ann.ask('disposeTerminal', { channel: rootUri })).rejects.toMatchObject({ code: -32008 })
  const again = ann.ask('createTerminal', { channel: uri, claim: mine('ann') })
  await expect(again).rejects.toMatchObject({ code: -32010 })
  expect(all.core().jobs.pending).toEqual([])
})

test('[Y7] the terminals of a session are disposed of with it, also sleeping ones', async () => {
  const { all, ann, terminals } = await shared()
  await ann.ask('createSession', { channel: 's:/1' })
  const claim = { kind: 'session', session: 's:/1', chat: defaultChatUri('s:/1') } as const
  for (const n of [2, 3]) await ann.ask('createTerminal', { channel: `ahp-terminal:/${n}`, claim })
  terminals.shells[1]?.exit(0)
  // An ended terminal that a session holds is not listed, but clients can still read it.
  await ann.until(() => listed(ann)?.length === 2)
  await ann.ask('subscribe', { channel: 'ahp-terminal:/2' })
  await all.restart('close')
  const cat = await all.join('cat', { subscribe: ['ahp-terminal:/2'] })
  expect(cat.state('ahp-terminal:/2')).toMatchObject({ lifecycle: { status: 'exited' } })
  await all.restart('close')
  const dan = await all.join('dan')
  await dan.ask('disposeSession', { channel: 's:/1' })
  for (const n of [2, 3])
    await expect(dan.ask('subscribe', { channel: `ahp-terminal:/${n}` })).rejects.toMatchObject({
      code: -32008,
    })
  expect(await all.store().log.load('ahp-terminal:/2', 1)).toBeUndefined()
  expect(await all.store().records.list('part/')).toEqual([])
})

test('[Y7] I7: no shell starts for a terminal that was disposed of before', async () => {
  const { all, terminals } = await shared()
  const size = { cols: 80, rows: 24 }
  const made = openTerminal(all.core(), 'ahp-terminal:/2', {
    claim: mine('ann'),
    title: '',
    directory: '/',
    ...size,
  })
  const started = made.start(terminals)
  forgetTerminal(all.core(), 'ahp-terminal:/2')
  await expect(started).rejects.toMatchObject({ code: -32011, message: 'the terminal has been disposed of' })
  expect(terminals.shells).toHaveLength(1)
  expect(all.core().jobs.pending).toEqual([uri])
})

test('[S-57 terminals] at 64 a terminal is made', () => crowd(63, undefined))
test('[S-57 terminals] past 64 it is refused', () => crowd(64, -32009))

async function crowd(others: number, code: number | undefined): Promise<void> {
  expect(limits.terminals).toBe(64)
  const terminals = fakeTerminals()
  const all = await testHost({ machine: { terminals } })
  const ann = await all.join('ann')
  const make = (n: number) => ann.ask('createTerminal', { channel: `ahp-terminal:/${n}`, claim: mine('ann') })
  for (let n = 0; n < others; n++) await make(n)
  if (code === undefined) expect(await make(others)).toBeNull()
  else await expect(make(others)).rejects.toMatchObject({ code })
}

test('[S-57 inputLength] at 262,144 characters are typed', () => typing(262_144, undefined))
test('[S-57 inputLength] past 262,144 they are refused', () =>
  typing(262_145, 'one input has at most 262144 characters'))

async function typing(length: number, expected: string | undefined): Promise<void> {
  const { ann, shell } = await shared()
  expect(await reason(ann, input('x'.repeat(length)))).toBe(expected)
  expect(shell.typed).toHaveLength(expected === undefined ? 1 : 0)
}

test('[S-57 terminalSize] at 1,000 columns and rows it fits', async () => {
  const { ann } = await shared()
  expect(await reason(ann, { type: 'terminal/resized', cols: 1000, rows: 1000 })).toBeUndefined()
})
test('[S-57 terminalSize] past 1,000 it is refused', async () => {
  const { ann } = await shared()
  expect(await reason(ann, { type: 'terminal/resized', cols: 1001, rows: 10 })).toMatch(/1 to 1000/)
})
