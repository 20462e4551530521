import { limits } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { expect, test } from 'vitest'
import { testHost } from '../../../test/test-host.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import type { FakeShell } from '../../../test/fake-terminals.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import type { AnyAction } from '../../../test/two-client-session.ts'
import type { Listener } from '../../kernel/log/entry.ts'

const uri = 'ahp-terminal:/1'

/** A subscriber that reads when the test says so. */
class Reader implements Listener {
  slow = false
  #read = () => {}
  deliver(): void {}
  notify(): void {}
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#read = resolve
    })
  }
  read(): void {
    this.slow = false
    this.#read()
  }
}

async function stage() {
  const terminals = fakeTerminals()
  const all = await testHost({ machine: { terminals } })
  const ann = await all.join('ann')
  await ann.ask('createTerminal', { channel: uri, claim: { kind: 'client', clientId: 'ann' } })
  const shell = terminals.shells[0] as FakeShell
  const channel = all.core().log.channel(uri)
  if (!channel) throw new Error('no terminal')
  const readers = [new Reader(), new Reader()]
  for (const reader of readers) channel.listeners.add(reader)
  const rest = () => ann.ask('ping', {})
  return { all, ann, shell, channel, readers: readers as [Reader, Reader], rest }
}

test('[Y5] F-40: a program waits for a slow subscriber, and goes on when it has read', async () => {
  const { shell, readers, rest } = await stage()
  shell.data('a')
  expect(shell.paused).toBe(false)
  readers[0].slow = true
  shell.data('b')
  expect(shell.paused).toBe(true)
  shell.data('c')
  await rest()
  expect([shell.paused, shell.pauses]).toEqual([true, 1])
  readers[0].read()
  await rest()
  await rest()
  expect(shell.paused).toBe(false)
})

test('[S-57 viewerMs] at 2,000 ms the program still waits for a slow subscriber', () => stalled(1999, true))
test('[Y5] [S-57 viewerMs] past 2,000 ms it waits no longer, until the subscriber has caught up once', () =>
  stalled(2000, false))

async function stalled(ms: number, waiting: boolean): Promise<void> {
  expect(limits.viewerMs).toBe(2000)
  const { all, shell, readers, rest } = await stage()
  readers[0].slow = true
  shell.data('a')
  await rest()
  all.world.advance(ms)
  await rest()
  await rest()
  expect(shell.paused).toBe(waiting)
  if (waiting) return
  shell.data('b')
  expect(shell.paused).toBe(false)
  readers[1].slow = true
  shell.data('c')
  expect(shell.paused).toBe(true)
  readers[1].read()
  await rest()
  await rest()
  expect(shell.paused).toBe(false)
  readers[0].read()
  shell.data('d')
  readers[0].slow = true
  shell.data('e')
  expect(shell.paused).toBe(true)
}

test('[S-57 untoldOutput] at 64 uncommitted pieces of output the program goes on', () => unflushed(64, false))
test('[Y5] [S-57 untoldOutput] past 64 it waits', () => unflushed(65, true))

async function unflushed(pieces: number, paused: boolean): Promise<void> {
  const terminals = fakeTerminals()
  const all = await testHost({ machine: { terminals } })
  const ann = await all.join('ann')
  await ann.ask('createTerminal', { channel: uri, claim: { kind: 'client', clientId: 'ann' } })
  const shell = terminals.shells[0] as FakeShell
  const channel = all.core().log.channel(uri)
  // All this output comes in one step, and nothing is delivered within a step.
  for (let n = 0; n < pieces; n++) shell.data('x')
  expect(channel?.uncommitted).toBe(pieces)
  expect(shell.paused).toBe(paused)
  await ann.ask('ping', {})
  await ann.ask('ping', {})
  expect(shell.paused).toBe(false)
}

test('[Y3] F-40: of a flood of output the newest part is kept, on the host and for new subscribers', async () => {
  const { all, shell, channel } = await stage()
  const line = `${'0123456789'.repeat(100)}\n`
  for (let n = 0; n < 5000; n++) shell.data(`${n} ${line}`)
  await all.core().log.settled()
  const { content } = channel.head as TerminalState
  const [part] = content
  expect(content).toHaveLength(1)
  if (part?.type !== 'unclassified') throw new Error('no text')
  expect(part.value.length).toBeLessThanOrEqual(limits.terminalLength)
  expect(part.value.length).toBeGreaterThan(limits.terminalLength / 3)
  expect(part.value).toMatch(/^\d+ 0123/)
  expect(part.value.endsWith(`4999 ${line}`)).toBe(true)
})

test('output after the exit, or after the terminal was disposed of, is ignored', async () => {
  const { all, ann, shell, channel } = await stage()
  shell.data('a')
  shell.exit(1)
  shell.data('b')
  shell.exit(2)
  await all.core().log.settled()
  expect(channel.head).toMatchObject({
    lifecycle: { exitCode: 1 },
    content: [{ type: 'unclassified', value: 'a' }],
  })
  await ann.ask('disposeTerminal', { channel: uri })
  shell.data('c')
  expect(all.world.reports).toEqual([])
})

/** A terminal that Ann has created for Ben, and whose shell starts when the test calls `begin`. */
async function starting(limit?: Partial<LimitValues>) {
  const terminals = fakeTerminals()
  let begin = () => {}
  terminals.delay = new Promise((resolve) => {
    begin = resolve
  })
  const all = await testHost({ machine: { terminals }, ...(limit && { limits: limit }) })
  const [ann, ben] = [await all.join('ann'), await all.join('ben')]
  const created = ann.ask('createTerminal', { channel: uri, claim: { kind: 'client', clientId: 'ben' } })
  created.catch(() => {})
  await until(() => all.core().log.channel(uri) !== undefined)
  await ben.ask('subscribe', { channel: uri })
  await untilIdle()
  expect(terminals.shells).toEqual([])
  const say = async (action: AnyAction) => {
    const { rejectionReason } = await ben.echo(ben.dispatch(uri, action))
    expect(rejectionReason).toBeUndefined()
  }
  return { all, terminals, begin, created, say }
}

test('[Y1] a host that stops while a shell starts ends the shell, and stores its exit', async () => {
  const { all, terminals, begin } = await starting()
  const closed = all.host().close()
  begin()
  await closed
  expect(terminals.shells.map(({ ended }) => ended)).toEqual([true])
  await all.restart()
  const cat = await all.join('cat', { subscribe: [uri] })
  expect(cat.state(uri)).toMatchObject({ lifecycle: { status: 'exited', exitCode: 129 }, content: [] })
})

test('[Y4] [Y4.2] a shell gets the input and the size that came while it started', async () => {
  const { terminals, begin, created, say } = await starting()
  await say({ type: 'terminal/resized', cols: 100, rows: 30 })
  await say({ type: 'terminal/resized', cols: 110, rows: 40 })
  await say({ type: 'terminal/input', data: 'l' })
  await say({ type: 'terminal/input', data: 's\r' })
  begin()
  await created
  await say({ type: 'terminal/input', data: 'x' })
  expect(terminals.shells[0]?.start).toMatchObject({ cols: 80, rows: 24 })
  expect(terminals.shells[0]?.sizes).toEqual([[110, 40]])
  expect(terminals.shells[0]?.typed).toEqual(['l', 's\r', 'x'])
})

test('[M2] while a shell starts, input that would exceed the limit is dropped as a whole', async () => {
  const { terminals, begin, created, say } = await starting({ terminalTyped: 10 })
  for (const data of ['123456', '12345', '7890']) await say({ type: 'terminal/input', data })
  begin()
  await created
  expect(terminals.shells[0]?.typed).toEqual(['123456', '7890'])
})
