import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acpRoom, callsOf, chat, session, textOf } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'

const input = (value: unknown, more: object = {}) => JSON.stringify({ rawInput: value, ...more })

/** Returns a script line that sends a raw request and does not wait for the response. */
const rawRequest = (method: string, params: object) =>
  `raw ${JSON.stringify({ jsonrpc: '2.0', id: `x-${method}`, method, params: { sessionId: '$SESSION', ...params } })}`

/** Runs a turn in which users are asked twice: allows the first call, denies the second, and returns the second call. */
async function secondQuestion(
  room: AcpRoom,
  text: string,
  toolName?: string,
  beforeDenial?: () => Promise<void>,
) {
  const turnId = room.begin(text)
  const first = await room.pendingCall()
  room.decide(first, true)
  const again = await room.pendingCall((call) =>
    toolName === undefined ? JSON.stringify(call) !== JSON.stringify(first) : call.toolName === toolName,
  )
  await beforeDenial?.()
  room.decide(again, false)
  await room.ended(turnId)
  return again
}

test('[N43.1] [N43] an update of a call after its approval is not covered by the approval', async () => {
  const room = await acpRoom()
  const effect = join(room.folder, 'effect')
  const line = `touch ${effect}`
  const changed = `change c1 ${input({ command: line }, { title: line })}`
  const run = await secondQuestion(room, `allowed c1 ${input({ command: 'true' })}\n${changed}\nrun ${line}`)
  expect(run).toMatchObject({ toolInput: line })
  const path = join(room.folder, 'a.txt')
  const diff = { content: [{ type: 'diff', path, oldText: null, newText: 'x' }] }
  const write = await secondQuestion(
    room,
    `allowed c1 ${input({ path: `${path}.old` })}\nchange c1 ${JSON.stringify(diff)}\nwrite ${path} x`,
  )
  expect(write).toMatchObject({ edits: { items: [{}] } })
  expect([existsSync(effect), existsSync(path)]).toEqual([false, false])
})

test('[N43] the approval of a command line covers neither a part of the line nor a text in it', async () => {
  const room = await acpRoom()
  const line = `touch ${join(room.folder, 'effect')}`
  for (const shown of [
    input({ command: `echo ${JSON.stringify(line)}` }),
    input({ path: 'a.txt', content: line }, { kind: 'edit' }),
    input({ command: 'true' }, { title: line }),
  ])
    expect(await secondQuestion(room, `allowed c1 ${shown}\nrun ${line}`)).toMatchObject({ toolInput: line })
  expect(existsSync(join(room.folder, 'effect'))).toBe(false)
})

test('[N43.3] [N43] a command with other variables, in another folder or with an unknown shell needs its own approval', async () => {
  const room = await acpRoom()
  mkdirSync(join(room.folder, 'sub'))
  const allowed = `allowed c1 ${input({ command: 'make' })}`
  const run = (more: object) =>
    `${allowed}\n${rawRequest('terminal/create', { command: 'make', ...more })}\nanswered x-terminal/create`
  const env = [{ name: 'MAKEFLAGS', value: '-f evil' }]
  expect(await secondQuestion(room, run({ env }))).toMatchObject({
    toolInput: "export MAKEFLAGS='-f evil'; make",
  })
  const cwd = join(room.folder, 'sub')
  expect(await secondQuestion(room, run({ cwd }))).toMatchObject({
    confirmationTitle: `It would run in ${cwd}`,
  })
  const shell = join(room.folder, 'sh')
  expect(await secondQuestion(room, run({ command: shell, args: ['-c', 'make'] }))).toMatchObject({
    toolInput: `${shell} -c make`,
  })
})

/** Runs a turn that shows the command `true` and then runs `more`, and returns which calls were asked about. */
async function askedAbout(room: AcpRoom, more: object) {
  const run = rawRequest('terminal/create', { command: 'true', ...more })
  const text = `allowed c1 ${input({ command: 'true' })}\n${run}\nanswered x-terminal/create`
  return callsOf((await room.turnAllowingAll(text)).responseParts).map(
    (call) => call._meta?.['x-atrium.asked'],
  )
}
const callerNamed = (value: string) => ({ env: [{ name: 'AGENT_SESSION_ID', value }] })

test('[N43.3] [N43] a variable that only names the caller needs no further approval', async () => {
  const room = await acpRoom()
  expect(await askedAbout(room, callerNamed('20261115_1'))).toEqual([1])
  expect(await askedAbout(room, callerNamed('$(reboot)'))).toEqual([1, 2])
})

test('[N43.9] a command that only hands a script to a system shell counts as the script', async () => {
  const room = await acpRoom()
  for (const flag of ['-c', '-lc'])
    expect(await askedAbout(room, { command: '/bin/sh', args: [flag, 'true'] })).toEqual([1])
  const script = { command: 'bash', args: ['-c', 'true'] }
  expect(await askedAbout(room, { ...script, ...callerNamed('1') })).toEqual([1])
  expect(await askedAbout(room, { ...script, env: [{ name: 'BASH_ENV', value: 'x' }] })).toEqual([1, 2])
})

test('[N43] a command line that was allowed once runs once, even if two requests come at the same time', async () => {
  const room = await acpRoom()
  const command = `echo done >> ${join(room.folder, 'effects')}`
  const run = rawRequest('terminal/create', { command })
  const both = `${run}$NEXT${run.slice('raw '.length).replace('x-', 'y-')}\nanswered x-terminal/create y-terminal/create`
  // In the first round a user allows call c1 before the two requests. In the second round c1 is open and users are asked only
  // by the requests.
  const effects = join(room.folder, 'effects')
  const text = () => (existsSync(effects) ? readFileSync(effects, 'utf8') : '')
  for (const [at, first] of ['allowed', 'change'].entries()) {
    // The end of the turn would end the allowed command, so the command must have run before.
    const ran = () => expect.poll(text, { timeout: 200_000 }).toBe('done\n'.repeat(at + 1))
    const again = await secondQuestion(room, `${first} c1 ${input({ command })}\n${both}`, 'run', ran)
    expect(again).toMatchObject({ toolInput: command })
  }
  expect(text()).toBe('done\ndone\n')
})

test('[N43.1] [N43] a call that reads a file or only locates it does not allow a write of the file', async () => {
  const room = await acpRoom()
  const path = join(room.folder, 'a.txt')
  writeFileSync(path, 'before')
  for (const shown of [
    input({ path }, { kind: 'read' }),
    input({ command: `cat ${JSON.stringify(path)}` }),
    JSON.stringify({ title: 'Look', locations: [{ path }] }),
  ])
    expect(await secondQuestion(room, `allowed c1 ${shown}\nwrite ${path} after`)).toMatchObject({
      edits: { items: [{ before: {}, after: {} }] },
    })
  expect(readFileSync(path, 'utf8')).toBe('before')
})

test('[N43.2] [N43] a text that differs from the shown change, whole or partial, needs another approval', async () => {
  const room = await acpRoom()
  const path = join(room.folder, 'a.txt')
  writeFileSync(path, 'one two')
  const allowed = (oldText: string | null, newText: string) =>
    `allowed c1 ${JSON.stringify({ kind: 'edit', content: [{ type: 'diff', path, oldText, newText }] })}`
  const again = await secondQuestion(room, `${allowed('one two', 'one 2')}\nwrite ${path} evil`)
  expect(again).toMatchObject({
    confirmationTitle: 'The text to be written differs from the change that was shown',
  })
  expect(readFileSync(path, 'utf8')).toBe('one two')
  for (const [oldText, newText, written] of [
    ['two', '2', 'one 2'],
    ['one 2', 'one 3', 'one 3'],
  ] as const) {
    const turnId = room.begin(`${allowed(oldText, newText)}\nwrite ${path} ${written}`)
    room.decide(await room.pendingCall(), true)
    expect(textOf(await room.ended(turnId))).toBe('written')
  }
})

test('[N43] a stored permission for a tool does not allow a call of that name to run a command', async () => {
  const room = await acpRoom()
  const permissions = ['write', 'edit', 'read'].map((tool) => ({ id: tool, tool }))
  room.ann.dispatch(session, {
    type: 'session/configChanged',
    config: { 'atrium.permissions': permissions },
  })
  const line = `touch ${join(room.folder, 'effect')}`
  for (const name of ['write', 'edit', 'read']) {
    const open = input({ command: line }, { kind: 'execute', name, status: 'in_progress' })
    const turnId = room.begin(`change c1 ${open}\nrun ${line}`)
    const call = await room.pendingCall()
    expect(call).toMatchObject({ toolName: name, toolInput: line })
    room.decide(call, false)
    await room.ended(turnId)
  }
  expect(existsSync(join(room.folder, 'effect'))).toBe(false)
})

test('[N43.8] [N43] a stored permission for the host’s own tool covers what the host does, whatever the agent calls it', async () => {
  const room = await acpRoom()
  const config = { 'atrium.permissions': [{ id: 'run', tool: 'run' }] }
  room.ann.dispatch(session, { type: 'session/configChanged', config })
  const open = input({ command: 'echo on' }, { kind: 'execute', name: 'shell', status: 'in_progress' })
  const turn = await room.turn(`change c1 ${open}\nrun echo on\nchange c1 {"status":"completed"}`)
  expect(textOf(turn)).toBe('exit 0: on')
  expect(callsOf(turn.responseParts)).toMatchObject([{ toolName: 'shell', confirmed: 'setting' }])
})

test('[N46] an approval from before a restart covers the change that was shown, and no other call with that title', async () => {
  const room = await acpRoom()
  const path = join(room.folder, 'a.txt')
  const about = (newText: string) =>
    JSON.stringify({ title: 'Edit files', kind: 'edit', content: [{ type: 'diff', path, newText }] })
  const turnId = room.begin(`allowed c1 ${about('good')}\nwrite ${path} good`)
  const call = await room.pendingCall()
  // The stored script of the agent is changed, so that the agent continues with another change than the one that was shown.
  const stored = readdirSync(room.agent.folder).filter((name) => name.endsWith('.json'))
  for (const file of stored.map((name) => join(room.agent.folder, name)))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('good', 'evil'))
  const next = await room.restart('close')
  next.decide(call, true)
  const again = await next.pendingCall(({ toolCallId }) => toolCallId !== call.toolCallId)
  expect(again).toMatchObject({ edits: { items: [{ after: {} }] } })
  next.decide(again, false)
  next.decide(await next.pendingCall(({ toolCallId }) => toolCallId !== again.toolCallId), false)
  await next.ended(turnId)
  expect(existsSync(path)).toBe(false)
})

test('[X1.6] [X1] an answer with additional metadata of its client counts', async () => {
  const room = await acpRoom()
  const turnId = room.begin('ask c1')
  const { toolCallId } = await room.pendingCall()
  const answer = { turnId, toolCallId, approved: true, confirmed: 'user-action' }
  room.ann.dispatch(chat, { type: 'chat/toolCallConfirmed', ...answer, _meta: { theirs: 1 } })
  expect(textOf(await room.ended(turnId))).toMatch(/^c1 (?:once|always)$/)
})
