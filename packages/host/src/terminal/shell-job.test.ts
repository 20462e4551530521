import { limits } from '@atrium/protocol/limits'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import { fakeTerminals } from '../../test/fake-terminals.ts'
import type { FakeShell } from '../../test/fake-terminals.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { until } from '../../test/scripted-agent.ts'
import type { Listener } from '../log/entry.ts'

const uri = 'ahp-terminal:/1'
const other = 'ahp-terminal:/2'

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
  return { all, ann, terminals, shell, channel, readers: readers as [Reader, Reader], rest }
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
test('[S-57 viewerMs] past 2,000 ms it waits no longer, until the subscriber has caught up once', () =>
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
test('[S-57 untoldOutput] past 64 it waits', () => unflushed(65, true))

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

test('[Y1] a host that stops while a shell starts ends the shell, and stores its exit', async () => {
  const { all, ann, terminals } = await stage()
  let begin = () => {}
  terminals.delay = new Promise((resolve) => {
    begin = resolve
  })
  void ann
    .ask('createTerminal', { channel: other, claim: { kind: 'client', clientId: 'ann' } })
    .catch(() => {})
  await until(() => all.core().log.channel(other) !== undefined)
  await untilIdle()
  const closed = all.host().close()
  begin()
  await closed
  expect(terminals.shells.map(({ ended }) => ended)).toEqual([true, true])
  await all.restart()
  const cat = await all.join('cat', { subscribe: [other] })
  expect(cat.state(other)).toMatchObject({ lifecycle: { status: 'exited', exitCode: 129 }, content: [] })
})
