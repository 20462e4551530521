import type { CanvasState } from '@atrium/protocol/canvas/state'
import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { call, confirmed, ready, toolCallStarted } from '../../../test/tool-call-actions.ts'
import { accepted, chat, chatOf, turn, twoClientSession } from '../../../test/two-client-session.ts'
import type { TwoClientSession } from '../../../test/two-client-session.ts'

const secret = 'token=kept-in-memory'
const address = `http://localhost:5173/?${secret}`

/** A turn whose command runs. Everything listens, except the given ports. */
async function runningCommand(deaf: ReadonlySet<number> = new Set()) {
  const terminals = fakeTerminals()
  const asked: string[] = []
  const listens = async (host: string, port: number) => {
    asked.push(`${host} ${port}`)
    return !deaf.has(port)
  }
  const all = await twoClientSession(new ScriptedAgent(), { machine: { terminals, listens } })
  const run = await turn(all, 't1', toolCallStarted(), ready({ toolInput: 'npm run dev' }))
  await accepted(all.ann, chat, confirmed)
  const command = await run.chat.run({ ...call, line: 'npm run dev\n# a server' })
  const [shell] = terminals.shells
  if (!shell) throw new Error('nothing runs')
  const prints = async (text: string) => {
    shell.data(text)
    await all.core().log.settled()
    await until(() => all.core().log.committedSeq === all.core().log.last)
  }
  return { ...all, asked, run, command, shell, prints }
}

/** A session in which a command has printed the address of its server, so that the chat has a canvas for it. */
async function shownServer(deaf?: ReadonlySet<number>) {
  const all = await runningCommand(deaf)
  await all.prints(`\x1b[32mLocal\x1b[39m: http://localhost:\x1b[1m51`)
  await all.prints(`73\x1b[22m/?${secret}\r\n`)
  await advanced(all, () => canvases(all).length === 1)
  return { ...all, canvas: canvases(all)[0]?.resource ?? '' }
}

const canvases = (all: TwoClientSession) => chatOf(all).canvases ?? []

/** Lets time pass until a condition holds. */
async function advanced({ world }: TwoClientSession, holds: () => boolean): Promise<void> {
  await until(() => {
    world.advance(500)
    return holds()
  })
}

test('[H51] a server that a command of a tool starts is a canvas of its chat, for every client', async () => {
  const { ann, ben, canvas } = await shownServer()
  for (const client of [ann, ben]) {
    await client.until(() => (client.state(chat) as ChatState).canvases?.length === 1)
    await client.ask('subscribe', { channel: canvas })
    const state: Partial<CanvasState> = { title: 'npm run dev', status: 'running', url: address }
    expect(client.state(canvas)).toMatchObject(state)
  }
})

test('[H51] [H51.2] the server of a command that is left stays after the turn, until the command ends', async () => {
  const all = await shownServer()
  const left = all.command.leave()
  all.world.advance(2000)
  await left
  all.run.end()
  await until(() => chatOf(all).turns.length === 1)
  expect(canvases(all)).toHaveLength(1)
  all.shell.exit(0)
  await all.ben.until(() => (all.ben.state(chat) as ChatState).canvases === undefined)
})

test('[H51.1] nothing is shown where nothing listens, and a command is asked for no longer than it runs', async () => {
  const all = await runningCommand(new Set([3000]))
  await all.prints('http://localhost:3000/ http://localhost:4000/\r\n')
  await advanced(all, () => all.asked.filter((each) => each === 'localhost 3000').length > 3)
  await advanced(all, () => canvases(all).length === 1)
  all.shell.exit(0)
  await until(() => canvases(all).length === 0)
  const before = all.asked.length
  all.world.advance(5000)
  expect(all.asked).toHaveLength(before)
})

test('[H51.2] a server that stops listening has no address until it listens again', async () => {
  const deaf = new Set<number>()
  const all = await shownServer(deaf)
  await all.ann.ask('subscribe', { channel: all.canvas })
  const shown = () => all.ann.state(all.canvas) as Partial<CanvasState>
  deaf.add(5173)
  await advanced(all, () => shown().status === 'not answering')
  expect(shown()).not.toHaveProperty('url')
  deaf.clear()
  await advanced(all, () => shown().status === 'running')
  expect(shown().url).toBe(address)
  const before = all.ann.envelopes.length
  const { length } = all.asked
  await advanced(all, () => all.asked.length > length + 2)
  expect(all.ann.envelopes).toHaveLength(before)
})

test('[H51.1] a program that prints its address again is asked for again', async () => {
  const deaf = new Set([3000])
  const all = await runningCommand(deaf)
  await all.prints('http://localhost:3000/\r\n')
  await advanced(all, () => all.asked.length === 20)
  deaf.clear()
  await all.prints('http://localhost:3000/again\r\n')
  await advanced(all, () => canvases(all).length === 1)
})

test('[H51.1] a port is shown once, and a line that is too long is not read', async () => {
  const all = await runningCommand()
  await all.prints(`${'x'.repeat(4096)} http://localhost:1/\r\n`)
  for (let at = 0; at < 50; at++) await all.prints('http://localhost:2/'.padEnd(100))
  await all.prints('\r\nhttp://localhost:3/ http://127.0.0.1:3/a http://localhost:3/b\r\n')
  await advanced(all, () => canvases(all).length === 1)
  expect(new Set(all.asked)).toEqual(new Set(['localhost 3']))
})

const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => `http://localhost:${3000 + at}/\r\n`).join('')

test('[S-57 commandAddresses] at 8: all addresses of a command are shown', async () => {
  const all = await runningCommand()
  await all.prints(lines(8))
  await advanced(all, () => canvases(all).length === 8)
})

test('[S-57 commandAddresses] past 8: further ones are not shown', async () => {
  const all = await runningCommand()
  await all.prints(lines(9))
  await advanced(all, () => canvases(all).length === 8)
  expect(all.asked).not.toContain('localhost 3008')
})

test('[H51.2] a canvas ends with its session, and its channel is gone', async () => {
  const all = await shownServer()
  await all.ann.ask('disposeSession', { channel: session })
  await until(() => all.core().log.channel(all.canvas) === undefined)
  await expect(all.ben.ask('subscribe', { channel: all.canvas })).rejects.toMatchObject({ code: -32008 })
})

test.each(['crash', 'close'] as const)(
  '[H51.3] after a %s of the host there are no canvases, and the store never had the address',
  async (how) => {
    const all = await shownServer()
    await all.core().log.settled()
    expect(JSON.stringify(await storedIn(all))).not.toContain(secret)
    await all.restart(how)
    expect(JSON.stringify(await storedIn(all))).not.toContain(secret)
    const cem = await all.join('cem', { subscribe: [chat] })
    expect((cem.state(chat) as ChatState).canvases).toBeUndefined()
    await expect(cem.ask('subscribe', { channel: all.canvas })).rejects.toMatchObject({ code: -32008 })
    await all.restart()
    expect(await all.core().records.list('canvas/')).toEqual([])
  },
)

/** What the store has of the canvas and of its chat. The terminal has what the command has written. */
async function storedIn({ store, core, canvas }: TwoClientSession & { readonly canvas: string }) {
  const { log } = store()
  const read = await log.read([canvas, chat], 0, core().log.last)
  return [read, await log.load(canvas), await log.load(chat), await log.creation(canvas).catch(() => {})]
}
