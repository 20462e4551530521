import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import { fileUri } from '@atrium/protocol/file-uri'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atrium, documents } from '../../test/command.ts'
import { clientOf, isInputNeeded, say, sessionOf } from '../../test/client.ts'
import { HostProcess } from '../../test/host-process.ts'

let home = ''
let work = ''
let host: HostProcess
let client: Client
beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-approve-')))
  work = join(home, 'work')
  mkdirSync(work)
  host = await HostProcess.start(home)
  client = clientOf(host)
})
afterAll(() => {
  client.close()
  return host.kill()
})

describe.sequential('[Z22] approve and deny', () => {
  test('[Z22.3] without an open request both exit with 1 and a sentence, for all sessions and for one', async () => {
    await sessionOf(client, 'calm')
    expect(await atrium(home, ['approve', '--json'])).toEqual({
      status: 1,
      stdout: '',
      stderr: 'atrium: Nothing waits for an answer.\n',
    })
    expect(await atrium(home, ['deny', 'calm'])).toEqual({
      status: 1,
      stdout: '',
      stderr: "atrium: Nothing waits for an answer in 'calm'.\n",
    })
    expect(await atrium(home, ['approve', 'nobody'])).toMatchObject({ status: 4 })
  })

  test('[Z22.2] [Z22.3] the only open request is approved with an edited input; a later answer learns what happened', async () => {
    const chat = await sessionOf(client, 'edited', work)
    await say(chat, 'run echo \u001b[31mred')
    const listed = await atrium(home, ['approve'])
    expect(listed).toMatchObject({ status: 0, stderr: '' })
    expect(listed.stdout).toMatch(/^edited +.*\S +\S*\/work +\S+ +run +Run `echo \ufffd\[31mred`\n$/)
    const wrong = await atrium(home, ['approve', 'edited', '--option', 'never'])
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('once, session, folder') })
    const { status, stdout } = await atrium(home, ['approve', 'edited', '--edit', 'echo yes > out', '--json'])
    expect(status).toBe(0)
    const [{ id } = { id: '' }] = documents(stdout)
    await chat.until(({ activeTurn }) => !activeTurn)
    expect(readFileSync(join(work, 'out'), 'utf8')).toBe('yes\n')
    expect(await atrium(home, ['deny', 'edited', '--call', String(id)])).toEqual({
      status: 1,
      stdout: '',
      stderr: 'atrium: This is not open: it was allowed by atrium-cli (owner).\n',
    })
    // [X8] The past shows who allowed it.
    expect((await atrium(home, ['logs', 'edited'])).stdout).toMatch(
      /\n {2}tool {5}.* \(done, allowed by atrium-cli \(owner\)\)\n/,
    )
    expect((await atrium(home, ['export', 'edited'])).stdout).toContain(
      '** (done, allowed by atrium-cli (owner)): ',
    )
  })

  test('[Z22.4] --show prints all of a long request as text and as JSON, and answers nothing', async () => {
    const chat = await sessionOf(client, 'lengthy', work)
    const lines = Array.from({ length: 61 }, (_, at) => `# ${at + 1}`)
    await say(chat, `run ${lines.join('\n')}`)
    const shown = await atrium(home, ['approve', 'lengthy', '--show'])
    expect(shown.stdout.split('\n').slice(1, -1)).toEqual(lines.map((line) => `  ${line}`))
    const json = await atrium(home, ['approve', 'lengthy', '--show', '--json'])
    expect(documents(json.stdout)).toMatchObject([{ lines, input: lines.join('\n') }])
    expect((await atrium(home, ['deny', 'lengthy'])).status).toBe(0)
  })

  test('of two answers at the same time one is accepted, and the other learns that', async () => {
    const chat = await sessionOf(client, 'raced', work)
    await say(chat, 'run true')
    const both = await Promise.all([atrium(home, ['approve', 'raced']), atrium(home, ['approve', 'raced'])])
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([0, 1]))
    expect(both.find(({ status }) => status === 1)?.stderr).toMatch(/This is not open|Nothing waits/)
  })

  test('[Z20.1] [Z20.2] [Z22.1] a denial has a reason; one of several requests must be named', async () => {
    const chat = await sessionOf(client, 'several', work)
    const waiting = atrium(home, ['send', 'several', '-w', 'write no.txt never'])
    await chat.until(({ status }) => isInputNeeded(status))
    const other = 'ahp-chat:/second'
    await client.ask('createChat', { channel: 'ahp-session:/several', chat: other })
    await say(client.subscribe('chat', other), 'ask something')
    const several = await atrium(home, ['deny', 'several', '--reason', 'not now', '--json'])
    expect(several).toMatchObject({ status: 2, stderr: expect.stringContaining('2 requests are open there') })
    const [call, form] = documents(several.stdout)
    expect([call, form]).toMatchObject([
      { kind: 'call', tool: 'write' },
      { kind: 'form', what: 'something' },
    ])
    const no = await atrium(home, ['deny', 'several', '--reason', 'not now', '--call', String(call?.['id'])])
    expect(no).toEqual({ status: 0, stdout: '', stderr: 'Denied: Write `no.txt`\n' })
    const { turns } = await chat.until(({ activeTurn }) => !activeTurn)
    expect(turns.at(-1)?.responseParts).toMatchObject([
      {
        toolCall: {
          status: 'cancelled',
          reasonMessage: 'not now',
          selectedOption: { id: 'atrium.deny-why' },
        },
      },
    ])
    expect(existsSync(join(work, 'no.txt'))).toBe(false)
    expect(await waiting).toEqual({
      status: 5,
      stdout: '',
      stderr: [
        'Sent.',
        'It waits for an answer; see it and answer with: atrium attach several',
        'One of its tools was denied.',
        '',
      ].join('\n'),
    })
    // A form with required questions cannot be approved as it is.
    expect(await atrium(home, ['approve', 'several'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The host refuses this'),
    })
    expect(await atrium(home, ['deny', 'several', '-q'])).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  test('[Z22.1] --call names a request by its id or the beginning of it; a whole id is not ambiguous', async () => {
    const first = await sessionOf(client, 'alike', work)
    const second = 'ahp-chat:/alike-too'
    await client.ask('createChat', { channel: 'ahp-session:/alike', chat: second })
    // The guide makes the id of a call of the id of its turn: `same-1` and `same-1-1`.
    await say(first, 'run true one', 'same')
    await say(client.subscribe('chat', second), 'run true two', 'same-1')
    const ambiguous = await atrium(home, ['approve', 'alike', '--call', 'same', '--json'])
    expect(documents(ambiguous.stdout)).toMatchObject([{ id: 'same-1' }, { id: 'same-1-1' }])
    expect(ambiguous.status).toBe(2)
    expect(await atrium(home, ['deny', 'alike', '--call', 'same-1'])).toEqual({
      status: 0,
      stdout: '',
      stderr: 'Denied: Run `true one`\n',
    })
    expect(await atrium(home, ['deny', 'alike', '--call', 'same-1-'])).toMatchObject({
      status: 0,
      stderr: 'Denied: Run `true two`\n',
    })
  })

  test('the name of a chat names only the requests of this chat', async () => {
    const chat = await sessionOf(client, 'forked', work)
    const turnId = await say(chat, 'say hello')
    const fork = 'ahp-chat:/fork-of-it'
    const source = { kind: 'fork', chat: chat.uri, turnId } as const
    await client.ask('createChat', { channel: 'ahp-session:/forked', chat: fork, source })
    await say(chat, 'run echo main > main')
    expect(await atrium(home, ['approve', 'fork-of'])).toEqual({
      status: 1,
      stdout: '',
      stderr: "atrium: Nothing waits for an answer in 'fork-of'.\n",
    })
    const [call] = documents((await atrium(home, ['approve', '--json'])).stdout)
    expect(await atrium(home, ['deny', 'fork-of', '--call', String(call?.['id'])])).toEqual({
      status: 1,
      stdout: '',
      stderr: `atrium: Nothing called '${String(call?.['id'])}' waits in 'fork-of'.\n`,
    })
    await say(client.subscribe('chat', fork), 'run echo fork > fork')
    expect(await atrium(home, ['approve', 'fork-of'])).toEqual({
      status: 0,
      stdout: '',
      stderr: 'Approved: Run `echo fork > fork`\n',
    })
    expect(await atrium(home, ['approve', 'forked'])).toMatchObject({
      status: 0,
      stderr: 'Approved: Run `echo main > main`\n',
    })
  })
})

describe.sequential('[Z26] grant and revoke', () => {
  test('[Z26.1] [Z26.2] all grants and permissions are listed with their scope, origin and time, and can be revoked', async () => {
    const chat = await sessionOf(client, 'allowed', work)
    for (const option of ['session', 'folder']) {
      await say(chat, option === 'session' ? 'run true' : 'read out')
      expect(await atrium(home, ['approve', 'allowed', '--option', option])).toMatchObject({ status: 0 })
      await chat.until(({ activeTurn }) => !activeTurn)
    }
    const granted = await atrium(home, ['grant', work, '--write'])
    expect(granted).toEqual({ status: 0, stdout: '', stderr: `Granted: ${work}.\n` })
    const lines = (await atrium(home, ['grant'])).stdout.trim().split('\n')
    expect(
      lines.map((line) =>
        line
          .trim()
          .split(/\s{2,}/)
          .slice(0, 3),
      ),
    ).toEqual([
      ['folder', 'read and write', work],
      ['tool', 'read', work],
      ['tool', 'run', 'session allowed'],
    ])
    expect(lines[2]).toMatch(/by [0-9a-f]{8} \d{4}-\d\d-\d\d \d\d:/)
    const all = documents((await atrium(home, ['grant', '--json'])).stdout)
    const id = String(all.find(({ tool }) => tool === 'run')?.['id'])
    expect(await atrium(home, ['revoke', id.slice(0, 12)])).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('Taken back: tool run session allowed'),
    })
    // A folder is revoked together with all permissions in it.
    expect(documents((await atrium(home, ['revoke', `${work}/`, '--json'])).stdout)).toMatchObject([
      { kind: 'grant', uri: fileUri(work), write: true },
      { kind: 'permission', tool: 'read' },
    ])
    expect(await atrium(home, ['grant'])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('There are no grants and no permissions.'),
    })
    expect(await atrium(home, ['revoke', work])).toMatchObject({ status: 1, stdout: '' })
  })

  test('a folder that does not exist, or whose path is ambiguous, is not granted', async () => {
    expect(await atrium(home, ['grant', join(home, 'nowhere')])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('grant a folder that is there'),
    })
    expect(await atrium(home, ['grant', 'file://elsewhere/tmp'])).toMatchObject({ status: 2 })
    expect(await atrium(home, ['grant', 'tmp', '--host', 'ws://127.0.0.1:1'])).toMatchObject({ status: 2 })
  })
})
