import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import { fileUri } from '@atrium/protocol/file-uri'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atrium } from '../../test/command.ts'
import { guestOf, say, sessionOf } from '../../test/guest.ts'
import { Life } from '../../test/life.ts'

let home = ''
let work = ''
let life: Life
let client: Client
beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-approve-')))
  work = join(home, 'work')
  mkdirSync(work)
  life = await Life.begin(home)
  client = guestOf(life)
})
afterAll(() => {
  client.close()
  return life.kill()
})

const documents = (stdout: string): readonly Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe.sequential('[Z22] approve and deny', () => {
  test('nothing waits: 1, with a sentence, anywhere and in a session', async () => {
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

  test('the one thing that waits is approved with another input, and who comes later is told what happened', async () => {
    const chat = await sessionOf(client, 'edited', work)
    await say(chat, 'run echo \u001b[31mred')
    const listed = await atrium(home, ['approve'])
    expect(listed).toMatchObject({ status: 0, stderr: '' })
    expect(listed.stdout).toMatch(/^edited +\S+ +run +Run `echo \ufffd\[31mred`\n$/)
    const wrong = await atrium(home, ['approve', 'edited', '--option', 'never'])
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('once, session, folder') })
    const { status, stdout } = await atrium(home, ['approve', 'edited', '--edit', 'echo yes > out', '--json'])
    expect(status).toBe(0)
    const [{ id } = {}] = documents(stdout)
    await chat.until(({ activeTurn }) => !activeTurn)
    expect(readFileSync(join(work, 'out'), 'utf8')).toBe('yes\n')
    expect(await atrium(home, ['deny', 'edited', '--call', String(id)])).toEqual({
      status: 1,
      stdout: '',
      stderr: 'atrium: Somebody else was faster: it was approved.\n',
    })
  })

  test('two who answer at once: one is first, and the other learns that', async () => {
    const chat = await sessionOf(client, 'raced', work)
    await say(chat, 'run true')
    const both = await Promise.all([atrium(home, ['approve', 'raced']), atrium(home, ['approve', 'raced'])])
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([0, 1]))
    expect(both.find(({ status }) => status === 1)?.stderr).toMatch(/Somebody else was faster|Nothing waits/)
  })

  test('no means no, with a reason; and one of several must be named', async () => {
    const chat = await sessionOf(client, 'several', work)
    const waiting = atrium(home, ['send', 'several', '-w', 'write no.txt never'])
    await chat.until(({ status }) => (status & 31) === 24)
    const other = 'ahp-chat:/second'
    await client.ask('createChat', { channel: 'ahp-session:/several', chat: other })
    await say(client.subscribe('chat', other), 'ask something')
    const several = await atrium(home, ['deny', 'several', '--reason', 'not now', '--json'])
    expect(several).toMatchObject({ status: 2, stderr: expect.stringContaining('2 things wait there') })
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
        'It waits for an answer; see what it asks with: atrium approve several',
        'Somebody said no to one of its tools.',
        '',
      ].join('\n'),
    })
    // A form that must be filled in is not answered by a yes.
    expect(await atrium(home, ['approve', 'several'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('The host refuses this'),
    })
    expect(await atrium(home, ['deny', 'several', '-q'])).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})

describe.sequential('[Z26] grant and revoke', () => {
  test('all that is allowed is listed with where, who and since when, and taken back', async () => {
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
    expect(lines[2]).toMatch(/by [0-9a-f]{8} \d{4}-\d\d-\d\dT/)
    const all = documents((await atrium(home, ['grant', '--json'])).stdout)
    const id = String(all.find(({ tool }) => tool === 'run')?.['id'])
    expect(await atrium(home, ['revoke', id.slice(0, 12)])).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('Taken back: tool run session allowed'),
    })
    // A folder goes with all that is allowed in it.
    expect(documents((await atrium(home, ['revoke', `${work}/`, '--json'])).stdout)).toMatchObject([
      { kind: 'grant', uri: fileUri(work), write: true },
      { kind: 'permission', tool: 'read' },
    ])
    expect(await atrium(home, ['grant'])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('Nothing'),
    })
    expect(await atrium(home, ['revoke', work])).toMatchObject({ status: 1, stdout: '' })
  })

  test('a folder that is not there, or that nobody could find, is not granted', async () => {
    expect(await atrium(home, ['grant', join(home, 'nowhere')])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('grant a folder that is there'),
    })
    expect(await atrium(home, ['grant', 'file://elsewhere/tmp'])).toMatchObject({ status: 2 })
    expect(await atrium(home, ['grant', 'tmp', '--host', 'ws://127.0.0.1:1'])).toMatchObject({ status: 2 })
  })
})
