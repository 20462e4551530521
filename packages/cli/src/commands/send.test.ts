import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atrium } from '../../test/command.ts'
import { catchUp, clientOf, sessionOf } from '../../test/client.ts'
import { HostProcess } from '../../test/host-process.ts'
import { running } from '../../test/running.ts'

let home = ''
let host: HostProcess
let client: Client
const chats = new Map<string, Subscription<'chat'>>()
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'atrium-send-'))
  host = await HostProcess.start(home)
  client = clientOf(host)
  for (const name of ['idle', 'busy', 'steered', 'stopped', 'left', 'queue'])
    chats.set(name, await sessionOf(client, name))
})
afterAll(() => {
  client.close()
  return host.kill()
})

function chatOf(name: string): Subscription<'chat'> {
  const chat = chats.get(name)
  if (!chat) throw new Error(name)
  return chat
}

/** Starts a turn that lasts longer than any test. */
async function startLongTurn(chat: Subscription<'chat'>): Promise<void> {
  const message = { text: 'slow 3600', origin: { kind: 'user' } } as const
  const startedAt = new Date().toISOString()
  await chat.dispatch({ type: 'chat/turnStarted', turnId: 'long', startedAt, message })
}

describe.concurrent('[Z20] send', () => {
  test('[Z20.1] [Z20.3] starts a turn; with -q it prints the answer only', async () => {
    const chat = chatOf('idle')
    expect(await atrium(home, ['send', 'idle', 'say', 'one', 'thing'])).toEqual({
      status: 0,
      stdout: '',
      stderr: 'Sent.\n',
    })
    await chat.until(({ turns }) => turns.some(({ message }) => message.text === 'say one thing'))
    expect(await atrium(home, ['send', 'idle', '-q', '-w', '-'], { input: 'say a\nb\n' })).toEqual({
      status: 0,
      stdout: 'a\nb\n',
      stderr: '',
    })
    const { stdout } = await atrium(home, ['send', 'idle', '--json', '--wait', 'say \u001b[31mred'])
    expect(JSON.parse(stdout)).toMatchObject({
      session: 'ahp-session:/idle',
      as: 'turn',
      turn: { state: 'complete', message: { text: 'say \u001b[31mred' } },
    })
    // The escape sequence is shown, and not executed.
    expect((await atrium(home, ['send', 'idle', '-w', 'say \u001b[31mred'])).stdout).toBe('\ufffd[31mred\n')
  })

  test('[Z20.1] exits with 1 for a failed turn, and with 3 after the timeout', async () => {
    expect(await atrium(home, ['send', 'left', '-w', 'fail \u001b]0;x'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The turn failed: `\ufffd]0;x`'),
    })
    const late = await atrium(home, ['send', 'left', '-w', '--timeout', '0.2', 'slow 100'])
    expect(late).toMatchObject({ status: 3, stderr: expect.stringContaining('did not end in 0.2 s') })
    await catchUp(client, 'left')
    expect(chatOf('left').state?.activeTurn?.message.text).toBe('slow 100')
  })

  test('[Z20.2] queues a message behind the active turn, and waits for the turn of this message', async () => {
    const chat = chatOf('busy')
    await startLongTurn(chat)
    const queued = await atrium(home, ['send', 'busy', '--json', 'say next'])
    expect(JSON.parse(queued.stdout)).toMatchObject({ as: 'queued' })
    await catchUp(client, 'busy')
    expect(chat.state?.queuedMessages).toHaveLength(1)
    const waiting = atrium(home, ['send', 'busy', '-w', 'say last'])
    await chat.until(({ queuedMessages = [] }) => queuedMessages.length === 2)
    const cancelled = await atrium(home, ['cancel', 'busy'])
    expect(cancelled).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(/^Cancelled\.\nThe queued messages wait/),
    })
    expect(await waiting).toMatchObject({
      status: 130,
      stdout: '',
      stderr: expect.stringMatching(
        /^Queued: it waits for the end of the active turn\.\natrium: The turn before it was/,
      ),
    })
    // A turn that completes starts the held messages.
    expect(await atrium(home, ['send', 'busy', '-w', 'say more'])).toMatchObject({
      status: 0,
      stdout: 'more\n',
    })
    await chat.until(({ turns }) => turns.length === 4)
    expect(chat.state?.turns.map(({ message }) => message.text).slice(1)).toEqual([
      'say more',
      'say next',
      'say last',
    ])
  })

  test('[Z8.8] steers the active turn; a message that comes too late waits for the next turn', async () => {
    const chat = chatOf('steered')
    await startLongTurn(chat)
    const steering = atrium(home, ['send', 'steered', '--steer', '-w', 'say other'])
    const { steeringMessage, queuedMessages } = await chat.until(
      (state) => state.steeringMessage !== undefined,
    )
    expect([steeringMessage?.message.text, queuedMessages]).toEqual(['say other', undefined])
    await atrium(home, ['cancel', 'steered', '-q'])
    expect(await steering).toMatchObject({
      status: 130,
      stderr: expect.stringMatching(/it gets this after this turn[^]*so the message waits/),
    })
  })

  test('refuses invalid arguments', async () => {
    for (const [args, status] of [
      [['nobody', 'hi'], 4],
      [['st', 'hi'], 2],
      [['idle', ' '], 2],
      [['idle'], 2],
      [['idle', 'hi', '--timeout', 'soon'], 2],
      [['idle', 'hi', '--timeout', '1e3'], 2],
      [['idle', 'hi', '--nonsense'], 2],
    ] as const) {
      const ended = await atrium(home, ['send', ...args])
      expect(ended).toMatchObject({ status, stdout: '' })
      expect(ended.stderr).toMatch(/^atrium: .+\n(\(Its arguments and options: atrium send --help\)\n)?$/)
    }
  })
})

describe.concurrent('[Z21] cancel', () => {
  test('cancels the active turn, and with --queued removes queued messages; a waiting send exits with 130', async () => {
    const chat = chatOf('stopped')
    const waiting = atrium(home, ['send', 'stopped', '-w', 'slow 3600'])
    await chat.until(({ activeTurn }) => activeTurn !== undefined)
    await atrium(home, ['send', 'stopped', 'say never'])
    const { status, stdout } = await atrium(home, ['cancel', 'stopped', '--queued', '--json'])
    expect(status).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(2)
    expect(await waiting).toMatchObject({ status: 130, stderr: expect.stringContaining('cancelled') })
    await catchUp(client, 'stopped')
    expect(chat.state).not.toHaveProperty('queuedMessages')
    expect(await atrium(home, ['cancel', 'stopped'])).toEqual({
      status: 1,
      stdout: '',
      stderr: "atrium: No turn is active in 'stopped'.\n",
    })
  })

  test('[Z20.2] a send that waits for a removed message fails', async () => {
    const chat = chatOf('queue')
    await startLongTurn(chat)
    const waiting = atrium(home, ['send', 'queue', '-w', 'say never'])
    const { queuedMessages = [] } = await chat.until((state) => state.queuedMessages !== undefined)
    await chat.dispatch({
      type: 'chat/pendingMessageRemoved',
      kind: 'queued',
      id: queuedMessages[0]?.id ?? '',
    })
    expect(await waiting).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('took the message out'),
    })
  })
})

describe('[Z30] an interruption while send waits', () => {
  test('[Z30.3] Ctrl-C exits with 130, and does not cancel the turn', async () => {
    const chat = await sessionOf(client, 'end')
    const waiting = running(home, ['send', 'end', '-w', 'slow 3600'])
    await waiting.said('Sent.')
    waiting.interrupt()
    expect(await waiting.ended).toMatchObject({
      status: 130,
      stderr: 'Sent.\nIt goes on without you; end it with: atrium cancel end\n',
    })
    await catchUp(client, 'end')
    expect(chat.state?.activeTurn).toBeDefined()
  })

  test('[Z30.2] a disposed session exits with 4', async () => {
    await sessionOf(client, 'removed')
    const waiting = running(home, ['send', 'removed', '-w', 'slow 3600'])
    await waiting.said('Sent.')
    await client.ask('disposeSession', { channel: 'ahp-session:/removed' })
    expect(await waiting.ended).toMatchObject({ status: 4, stderr: expect.stringContaining('was removed') })
  })

  test('[Z30.1] a host that does not come back exits with 1', async () => {
    const waiting = running(home, ['send', 'end', '-w', 'say never'])
    await waiting.said('Queued: it waits for the end')
    await host.kill()
    expect(await waiting.ended).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('atrium: The host went away in the middle of this'),
    })
  })
})
