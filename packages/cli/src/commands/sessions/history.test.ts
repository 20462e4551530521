import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atrium, documents } from '../../../test/command.ts'
import { clientOf, say, sessionOf } from '../../../test/client.ts'
import { HostProcess } from '../../../test/host-process.ts'

let home = ''
let host: HostProcess
let client: Client
let chat: Subscription<'chat'>
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'atrium-history-'))
  host = await HostProcess.start(home)
  client = clientOf(host)
  chat = await sessionOf(client, 'talk', home)
  await say(chat, 'say first \u001b[31mred')
  await say(chat, 'say second words')
})
afterAll(() => {
  client.close()
  return host.kill()
})

describe('[Z51] history', () => {
  test('prints past actions as lines or as JSON', async () => {
    const { status, stdout } = await atrium(home, ['history', 'talk', '-n', 'all'])
    expect(status).toBe(0)
    expect(stdout).toMatch(
      /^1 {2}\S+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}chat\/turnStarted {2}say first \ufffd\[31mred$/m,
    )
    expect(stdout).toMatch(/^\d+ {2}host +chat\/turnComplete/m)
    const all = documents((await atrium(home, ['history', 'talk', '-n', 'all', '--json'])).stdout)
    expect(all.length).toBe(stdout.trimEnd().split('\n').length)
    expect(all[0]).toMatchObject({ kind: 'action', channel: chat.uri, action: { type: 'chat/turnStarted' } })
    const newest = await atrium(home, ['history', 'talk', '-n', '2', '--json'])
    expect(documents(newest.stdout)).toEqual(all.slice(-2))
    const some = await atrium(home, ['history', '-n', '2'])
    expect(some.stderr).toContain(`There are ${all.length} actions`)
  })

  test('--at prints the turns that the chat had', async () => {
    const all = documents((await atrium(home, ['history', 'talk', '-n', 'all', '--json'])).stdout)
    const started = all.filter(({ action }) => (action as { type: string }).type === 'chat/turnStarted')
    const second = Number(started[1]?.['number'])
    const { stdout: shown } = await atrium(home, ['history', 'talk', '-n', 'all'])
    expect(shown.split('\n')[second - 1]).toMatch(new RegExp(`^${second}  .*say second words`))
    const bySeq = await atrium(home, ['history', 'talk', '--at', String(started[1]?.['serverSeq']), '--json'])
    expect(documents(bySeq.stdout)).toHaveLength(2)
    const before = await atrium(home, ['history', 'talk', '--at', String(second - 1), '--json'])
    expect(documents(before.stdout)).toMatchObject([{ kind: 'turn', number: 1, turn: { state: 'complete' } }])
    const { stdout } = await atrium(home, ['history', 'talk', '--at', String(second)])
    expect(stdout).toMatch(/turn 2 {2}\S+ \S+ {2}in progress\n {2}you {6}say second words/)
  })

  test('says what was removed, and what is wrong', async () => {
    const wrong = await atrium(home, ['history', 'talk', '--at', 'x'])
    expect(wrong).toMatchObject({ status: 2, stdout: '' })
    const early = await atrium(home, ['history', 'talk', '--at', '9999'])
    expect(early.stderr).toMatch(
      /^atrium: There is no action 9999: the chat has the actions 1 to \d+; see them with: atrium history\n$/,
    )
    expect(early).toMatchObject({ status: 1, stdout: '' })
    const [first] = chat.state?.turns ?? []
    await chat.dispatch({ type: 'chat/truncated', turnId: first?.id ?? '' })
    const { stdout, stderr } = await atrium(home, ['history', 'talk', '-n', 'all'])
    expect(stdout).not.toContain('second')
    expect(stderr).toContain('Turns were removed from the chat here, and are not shown')
    const gone = await atrium(home, ['history', 'nobody'])
    expect(gone).toMatchObject({ status: 4, stdout: '' })
  })
})
