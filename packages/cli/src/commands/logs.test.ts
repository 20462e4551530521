import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atrium, documentIn, documents } from '../../test/command.ts'
import { clientOf, say, sessionOf, setTitle } from '../../test/client.ts'
import { HostProcess } from '../../test/host-process.ts'
import { running } from '../../test/running.ts'
import { onTerminal } from '../../test/terminal.ts'

let home = ''
let host: HostProcess
let client: Client
let chat: Subscription<'chat'>
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'atrium-logs-'))
  host = await HostProcess.start(home)
  client = clientOf(host)
  chat = await sessionOf(client, 'talk', home)
  await say(chat, 'say first \u001b[31mred')
  await say(chat, 'spawn say inside')
  await say(chat, 'fail because')
})
afterAll(() => {
  client.close()
  return host.kill()
})

describe('[Z23] logs', () => {
  test('shows the newest turns of all chats, as many as asked for', async () => {
    const { status, stdout, stderr } = await atrium(home, ['logs', 'talk'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('\n  you      say first \ufffd[31mred\n  agent    first \ufffd[31mred\n')
    expect(stdout).toMatch(/turn 3 {2}\d{4}-\S+ \d\d:\d\d:\d\d {2}error/)
    expect(stdout).toContain('  error    `because`')
    // The turns of a worker are in a chat of their own.
    expect(stdout).toMatch(/\nchat [0-9a-f]{8} .*\nturn 1 .*\n {2}agent {4}say inside\n {2}agent {4}inside\n/)
    const newest = await atrium(home, ['logs', 'talk', '-n', '1', '--json'])
    expect(documents(newest.stdout)).toMatchObject([
      { kind: 'turn', number: 3, chat: chat.uri, turn: { state: 'error' } },
      { kind: 'turn', number: 1, turn: { state: 'complete' } },
    ])
    expect(await atrium(home, ['logs', 'talk', '-n', 'few'])).toMatchObject({ status: 2, stdout: '' })
    expect(await atrium(home, ['logs', 'nobody'])).toMatchObject({ status: 4, stdout: '' })
  })

  test('[Z2.5] -f prints each new action with its number, until its reader closes the pipe', async () => {
    const following = running(home, ['logs', 'talk', '-f', '-n', '0', '--json'])
    const next = async () => documentIn((await following.lines.next()).value)
    // The command subscribes at an unknown moment: change the title until it prints the first action.
    const types: unknown[] = []
    const first = next()
    let subscribed = false
    void first.then(() => (subscribed = true))
    for (let at = 0; !subscribed; at++) {
      await setTitle(client, 'ahp-session:/talk', `title ${at}`)
      await Promise.race([first, sleep(20)])
    }
    const turn = say(chat, 'say live')
    let last = Number((await first)['serverSeq'])
    while (!types.includes('chat/turnComplete')) {
      const { kind, serverSeq, action } = await next()
      expect(kind).toBe('action')
      expect(Number(serverSeq)).toBeGreaterThan(last)
      last = Number(serverSeq)
      types.push(documentIn(JSON.stringify(action))['type'])
    }
    await turn
    expect(types).toEqual(expect.arrayContaining(['chat/turnStarted', 'chat/delta']))
    // The command ends at the next line that it cannot write.
    following.stopReading()
    await setTitle(client, 'ahp-session:/talk', 'over')
    expect(await following.ended).toMatchObject({ status: 0, stderr: '' })
  })

  test('-f on a terminal is in colour, and Ctrl-C ends it with 130', async () => {
    const terminal = await onTerminal(home, 'logs talk -f -n 1')
    await terminal.until('Following')
    await setTitle(client, 'ahp-session:/talk', 'a \u001b[2Jtrap')
    await terminal.until('trap')
    terminal.shell.input('\u0003')
    expect(await terminal.exited).toBe(130)
    expect(terminal.text()).toContain('\u001b[32mcomplete\u001b[39m')
    expect(terminal.text()).toContain('\u001b[36msession/titleChanged\u001b[39m  a \ufffd[2Jtrap')
  })
})

describe('[Z24] export', () => {
  test('has every turn of every chat, those of older pages included, and the names of attachments', async () => {
    const long = await sessionOf(client, 'long')
    const attachments = [{ type: 'simple', label: 'notes.txt' }] as const
    const message = { text: 'say with notes', origin: { kind: 'user' }, attachments } as const
    const startedAt = new Date().toISOString()
    await long.dispatch({ type: 'chat/turnStarted', turnId: 'first', startedAt, message })
    await long.until(({ activeTurn }) => !activeTurn)
    // More text than fits into one snapshot.
    for (let at = 0; at < 3; at++) await say(long, `say ${'x'.repeat(3_000_000)}`)
    const { status, stdout } = await atrium(home, ['export', 'long', '--format', 'json'])
    expect(status).toBe(0)
    // The cast names the part of an exported session that this test reads.
    const { chats } = JSON.parse(stdout) as { chats: { turns: { message: { text: string } }[] }[] }
    expect(chats[0]?.turns.map(({ message: { text } }) => text.slice(0, 14))).toEqual([
      'say with notes',
      ...Array.from({ length: 3 }, () => 'say xxxxxxxxxx'),
    ])
    const page = (await atrium(home, ['export', 'long'])).stdout
    expect(page.slice(0, 500)).toMatch(/^# about long\n\n- session: ahp-session:\/long\n- agent: guide\n/)
    expect(page).toContain('### 1 · you')
    expect(page).toContain('- attached: notes.txt\n')
    expect(page).toContain('### 4 · you')
  })

  test('shows tool calls and failures, and refuses an unknown format', async () => {
    const { stdout, stderr } = await atrium(home, ['export', 'talk'])
    expect(stderr).toBe('')
    expect(stdout).toContain('**Failed:** `because`')
    expect(stdout).toMatch(/\*\*.+\*\* \(done\): .+\n\n(.*\n)*worker: /)
    expect(stdout).not.toContain('\u001b')
    expect(await atrium(home, ['export', 'talk', '--format', 'pdf'])).toMatchObject({ status: 2, stdout: '' })
  })
})

test('[Z25] a fork has the turns up to the named one, and is addressed by its name', async () => {
  const { status, stdout } = await atrium(home, ['fork', 'talk', '--turn', '1', '-q'])
  expect(status).toBe(0)
  const uri = stdout.trim()
  const made = await client.subscribe('chat', uri).ready()
  expect(made.turns.map(({ message }) => message.text)).toEqual(['say first \u001b[31mred'])
  const name = uri.slice(uri.lastIndexOf('/') + 1).slice(0, 8)
  expect(await atrium(home, ['send', name, '-w', '-q', 'say there'])).toMatchObject({
    status: 0,
    stdout: 'there\n',
  })
  const last = documentIn((await atrium(home, ['fork', name, '--json'])).stdout)
  expect(last).toMatchObject({ session: 'ahp-session:/talk', source: { kind: 'fork', chat: uri } })
  for (const turn of ['99', '0', 'nonsense'])
    expect(await atrium(home, ['fork', 'talk', '--turn', turn])).toMatchObject({ status: 2, stdout: '' })
  await sessionOf(client, 'empty')
  expect(await atrium(home, ['fork', 'empty'])).toMatchObject({ status: 1, stdout: '' })
})
