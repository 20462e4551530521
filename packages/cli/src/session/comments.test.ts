import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import { sessionComments } from '@atrium/client/comments'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf, say, sessionOf } from '../../test/client.ts'
import { atrium, documents } from '../../test/command.ts'
import { HostProcess } from '../../test/host-process.ts'
import { parsePlace } from './comments.ts'

let home = ''
let work = ''
let host: HostProcess
let client: Client
beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-comments-')))
  work = join(home, 'work')
  mkdirSync(work)
  writeFileSync(join(work, 'a.ts'), 'one\ntwo\nthree\n')
  host = await HostProcess.start(home)
  client = clientOf(host)
})
afterAll(() => {
  client.close()
  return host.kill()
})

const run = (...args: readonly string[]) => atrium(home, ['comments', ...args], { cwd: work })

describe.sequential('[Z34] comments', () => {
  test('are written, listed with their authors, answered by the guide, resolved and removed', async () => {
    const chat = await sessionOf(client, 'mine', work)
    expect(await run('mine')).toMatchObject({ status: 0, stdout: '' })
    const added = await run('mine', 'add', 'a.ts:2-3', 'why', 'this?', '--json')
    const [{ id } = { id: '' }] = documents(added.stdout) as readonly { id: string }[]
    expect(added.status).toBe(0)
    await say(chat, `reply ${id} Because \u001b[31m of that.`)
    const listed = await run('mine')
    expect(listed.stdout).toContain(`${id.slice(0, 8)}  ${work}/a.ts:2-3\n`)
    expect(listed.stdout).toMatch(/: why this\?\n.*: Because \ufffd\[31m of that\.\n$/)
    const [document] = documents((await run('mine', '--json')).stdout)
    expect(document).toMatchObject({
      id,
      file: join(work, 'a.ts'),
      line: 2,
      lastLine: 3,
      resolved: false,
      outdated: false,
      entries: [{ text: 'why this?' }, { by: 'Atrium Guide' }],
    })
    expect(await run('mine', 'reply', id.slice(0, 6), 'I', 'see.')).toMatchObject({ status: 0 })
    expect(await run('mine', 'resolve', id.slice(0, 6))).toMatchObject({ status: 0, stderr: 'Resolved.\n' })
    expect(await run('mine')).toMatchObject({ stdout: '', stderr: expect.stringContaining('1 resolved') })
    expect((await run('mine', '--all')).stdout).toContain('resolved')
    expect(await run('mine', 'reopen', id)).toMatchObject({ status: 0 })
    expect(await run('mine', 'remove', id)).toMatchObject({ status: 0 })
    expect(await sessionComments(client, 'ahp-session:/mine').ready()).toEqual([])
  })

  test('follow their text on a real disk while somebody looks, and say when it is gone', async () => {
    await sessionOf(client, 'moving', work)
    const mine = sessionComments(client, 'ahp-session:/moving')
    await mine.ready()
    await run('moving', 'add', 'a.ts:2', 'here')
    await mine.channel.until(({ annotations }) => annotations[0]?._meta !== undefined)
    writeFileSync(join(work, 'a.ts'), 'zero\none\ntwo\nthree\n')
    await mine.channel.until(({ annotations }) => annotations[0]?.range?.start.line === 2)
    writeFileSync(join(work, 'a.ts'), 'zero\none\nthree\n')
    await mine.channel.until(({ annotations }) => JSON.stringify(annotations).includes('"outdated":true'))
    expect((await run('moving')).stdout).toContain('outdated')
    mine.release()
  })

  test.each<[string, readonly string[], number, RegExp]>([
    ['an unknown action', ['mine', 'frob', 'x'], 2, /there is: add, reply/],
    ['no text', ['mine', 'add', 'a.ts'], 2, /add FILE\[:LINE\[-LAST\]\] TEXT/],
    ['a text too many', ['mine', 'resolve', 'x', 'now'], 2, /resolve COMMENT/],
    ['lines backwards', ['mine', 'add', 'a.ts:3-2', 'x'], 2, /names no lines/],
    ['an unknown comment', ['mine', 'reply', 'nx', 'x'], 4, /There is no comment 'nx'/],
    ['a file out of reach', ['mine', 'add', '/etc/passwd', 'x'], 1, /The host refuses this: .*granted/],
    ['an unknown session', ['nowhere'], 4, /There is no session/],
  ])('%s is told in a sentence', async (_, args, status, sentence) => {
    const ended = await run(...args)
    expect([ended.status, ended.stdout]).toEqual([status, ''])
    expect(ended.stderr).toMatch(sentence)
  })
})

test('[Z34] a place is a file, a line of it, or lines', () => {
  expect(parsePlace('a.ts')).toEqual({ file: 'a.ts' })
  expect(parsePlace('C:a.ts')).toEqual({ file: 'C:a.ts' })
  const end = { line: 7, character: 0 }
  expect(parsePlace('a:b.ts:7')).toEqual({ file: 'a:b.ts', range: { start: { line: 6, character: 0 }, end } })
})
