import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acpRoom, callsOf, textOf } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'
import { wrappedLine } from './calls/wrapped-line.ts'

const variables = [
  { name: 'NO_COLOR', value: '1' },
  { name: 'TERM', value: 'dumb' },
  { name: 'GIT_TERMINAL_PROMPT', value: '0' },
  { name: 'SHELL', value: '/bin/bash' },
]

/** A script line that requests a terminal, and does not wait for it. */
function request(id: string, params: object): string {
  const frame = {
    jsonrpc: '2.0',
    id,
    method: 'terminal/create',
    params: { sessionId: '$SESSION', ...params },
  }
  return `raw ${JSON.stringify(frame)}`
}

/** Kimi's request for a terminal, and what differs from it. */
function wrapped(folder: string, line: string, more: object = {}): object {
  return {
    command: '/bin/bash',
    args: ['-c', `cd '${folder}' && ${line}`],
    env: variables,
    cwd: folder,
    ...more,
  }
}

/** A question as Kimi asks it: the input is streamed as content, and the request shows only a title. */
function asked(line: string): string {
  const text = JSON.stringify({ command: line })
  const streamed = (end: number) => [{ type: 'content', content: { type: 'text', text: text.slice(0, end) } }]
  const change = (end: number) =>
    `change c1 ${JSON.stringify({ kind: 'execute', title: 'Bash', status: 'in_progress', content: streamed(end) })}`
  return `${change(3)}\n${change(text.length)}\nallowed c1 {"title":"Bash"}`
}

test('[N43.6] [N43.7] [N43] Kimi’s question shows the whole command line, and its wrapper of this line needs no second approval', async () => {
  const room = await acpRoom()
  const line = `touch ${join(room.folder, 'effect')}`
  const turnId = room.begin(`${asked(line)}\n${request('x', wrapped(room.folder, line))}\nhang`)
  const call = await room.pendingCall()
  expect(call).toMatchObject({ toolInput: line })
  room.decide(call, true)
  // The end of a turn ends its terminals, so the turn ends after the command.
  await expect.poll(() => existsSync(join(room.folder, 'effect')), { timeout: 200_000 }).toBe(true)
  room.cancel(turnId)
  const turn = await room.ended(turnId)
  expect(callsOf(turn.responseParts).map(({ _meta }) => _meta?.['x-atrium.asked'])).toEqual([1])
})

test('[N43] [S-39] the wrapper counts once', async () => {
  const room = await acpRoom()
  const line = 'true'
  const both = ['x', 'y'].map((id) => request(id, wrapped(room.folder, line))).join('\n')
  expect(await secondAsked(room, `${asked(line)}\n${both}\nanswered x y`)).toContain("&& true'")
})

/** Runs a turn in which users are asked twice: allows the first call, denies the second, and returns its input. */
async function secondAsked(room: AcpRoom, text: string): Promise<string> {
  const turnId = room.begin(text)
  room.decide(await room.pendingCall(), true)
  const again = await room.pendingCall(({ toolName }) => toolName === 'run')
  room.decide(again, false)
  await room.ended(turnId)
  return 'toolInput' in again ? JSON.stringify(again.toolInput) : ''
}

test('[N43.7] [N43] [S-39] every variation of the wrapper is another command, and asks', async () => {
  const room = await acpRoom()
  const { folder } = room
  const effect = join(folder, 'effect')
  mkdirSync(join(folder, 'sub'))
  symlinkSync(folder, join(folder, 'link'))
  const line = 'true'
  const args = (script: string, flag = '-c') => ({ args: [flag, script] })
  const env = (...more: readonly object[]) => ({ env: [...variables, ...more] })
  const without = (name: string) => ({ env: variables.filter((each) => each.name !== name) })
  const variations: readonly object[] = [
    args(`cd '${folder}' && ${line}; touch ${effect}`),
    args(`cd '${folder}' && ${line}\ntouch ${effect}`),
    args(`cd '${folder}' && touch ${effect} && ${line}`),
    args(`cd '${folder}' && ${line} `),
    args(`cd '${folder}' ; ${line}`),
    args(`cd '${folder}'  && ${line}`),
    args(`cd ${folder} && ${line}`),
    args(`cd "${folder}" && ${line}`),
    args(`cd '${folder}/' && ${line}`),
    args(`cd '${folder}/sub' && ${line}`),
    args(`cd '${folder}/link' && ${line}`),
    args(`cd '${folder}' && cd '${folder}' && ${line}`),
    args(`cd '${folder}$(touch ${effect})' && ${line}`),
    args(`cd '${folder}'$(touch ${effect}) && ${line}`),
    args(`cd '${folder}' && ${line}`, '-lc'),
    args(`cd '${folder}' && ${line}`, '-ic'),
    { args: ['-c', `cd '${folder}' && ${line}`, 'name'] },
    { args: ['--rcfile', effect, '-c', `cd '${folder}' && ${line}`] },
    { command: 'bash' },
    { command: join(folder, 'bash') },
    { command: '/bin/bash -x' },
    env({ name: 'BASH_ENV', value: effect }),
    env({ name: 'LD_PRELOAD', value: effect }),
    env({ name: 'PATH', value: folder }),
    env({ name: 'TERM', value: 'dumb' }),
    without('SHELL'),
    { env: variables.map((each) => (each.name === 'SHELL' ? { ...each, value: effect } : each)) },
    { env: variables.map((each) => (each.name === 'TERM' ? { ...each, value: 'xterm' } : each)) },
    { env: variables.map((each) => (each.name === 'NO_COLOR' ? { name: 'BASH_ENV', value: '1' } : each)) },
    { env: [...variables.slice(1), { name: 'TERM', value: 'dumb' }] },
    { env: [...variables.slice(0, 3), null] },
    { cwd: join(folder, 'sub') },
  ]
  for (const [at, more] of variations.entries()) {
    const id = `x${at}`
    const text = `${asked(line)}\n${request(id, wrapped(folder, line, more))}\nanswered ${id}`
    expect([at, await secondAsked(room, text)]).toEqual([at, expect.stringContaining('bash')])
  }
  expect(existsSync(effect)).toBe(false)
})

test('[N43] [S-39] the wrapper quotes the folder, and knows only system shells', () => {
  const env = (shell: string) =>
    variables.map((each) => (each.name === 'SHELL' ? { ...each, value: shell } : each))
  const of = (command: string, script: string) => ({ command, args: ['-c', script], env: env(command) })
  expect(wrappedLine(of('/usr/bin/bash', "cd '/it'\\''s' && ls"), "/it's")).toBe('ls')
  expect(wrappedLine(of('/bin/bash', "cd '/it's' && ls"), "/it's")).toBeUndefined()
  expect(wrappedLine(of('/bin/bash', "cd '/a' && "), '/a')).toBeUndefined()
  expect(wrappedLine(of('/tmp/bash', "cd '/a' && ls"), '/a')).toBeUndefined()
  expect(wrappedLine({ command: '/bin/bash', args: ['-c', "cd '/a' && ls"] }, '/a')).toBeUndefined()
  expect(wrappedLine({ command: '/bin/bash', args: 5, env: 5 }, '/a')).toBeUndefined()
})

test('[N43.2] [N43] a write of another text than the input of the call showed needs another approval', async () => {
  const room = await acpRoom()
  const path = join(room.folder, 'a.txt')
  const shown = JSON.stringify({ kind: 'edit', rawInput: { path, content: 'good' } })
  const turnId = room.begin(`allowed c1 ${shown}\nwrite ${path} evil`)
  const first = await room.pendingCall()
  room.decide(first, true)
  const again = await room.pendingCall((call) => JSON.stringify(call) !== JSON.stringify(first))
  room.decide(again, false)
  expect(textOf(await room.ended(turnId))).toContain('refused')
  expect(existsSync(path)).toBe(false)
  const same = room.begin(`allowed c2 ${shown}\nwrite ${path} good`)
  room.decide(await room.pendingCall(), true)
  expect(textOf(await room.ended(same))).toBe('written')
})
