import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/acp.ts'
import { acpRoom, callsOf, session, textOf } from '../../test/acp-room.ts'

const input = (value: object) => JSON.stringify({ rawInput: value })

test('[N43] a file is written without another question for an allowed call that names the file', async () => {
  const room = await acpRoom()
  const path = join(room.folder, 'a.txt')
  const turn = await room.turnAllowingAll(
    `allowed c1 ${input({ path })}\nwrite ${path} hello\nchange c1 {"status":"completed"}`,
  )
  expect([readFileSync(path, 'utf8'), textOf(turn)]).toEqual(['hello', 'written'])
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', success: true }])
})

test('[N43] a write without an allowed call asks users, and shows the change', async () => {
  const room = await acpRoom()
  const path = join(room.folder, 'a.txt')
  writeFileSync(path, 'before')
  // The user approves a call that shows another file. This approval does not cover the write.
  const another = input({ path: `${path}.old` })
  const turnId = room.begin(`allowed c1 ${another}\nwrite ${path} after\nwrite ${path} again`)
  room.decide(await room.pendingCall(), true)
  const first = await room.pendingCall(({ displayName }) => displayName === 'Write')
  expect(first).toMatchObject({ displayName: 'Write', edits: { items: [{ before: {}, after: {} }] } })
  expect(readFileSync(path, 'utf8')).toBe('before')
  room.decide(first, true)
  room.decide(await room.pendingCall(({ toolCallId }) => toolCallId !== first.toolCallId), false)
  expect(textOf(await room.ended(turnId))).toBe('written|refused: no user has allowed this')
  expect(readFileSync(path, 'utf8')).toBe('after')
})

test('[N43.4] [N43] a write outside the session’s folders, by any path, is refused without a question', async () => {
  const room = await acpRoom()
  const outside = temporaryFolder()
  symlinkSync(outside, join(room.folder, 'link'))
  const places = [join(outside, 'x'), `${room.folder}/../x`, join(room.folder, 'link', 'x'), '/etc/x']
  for (const path of places) {
    const turn = await room.turn(`write ${path} no`)
    expect(textOf(turn)).toContain('refused: ')
    expect(callsOf(turn.responseParts)).toEqual([])
  }
  expect(existsSync(join(outside, 'x'))).toBe(false)
})

test('[N43.4] [N43] a write of a protected file asks users despite a stored permission', async () => {
  const room = await acpRoom()
  mkdirSync(join(room.folder, '.git'))
  const config = { 'atrium.permissions': [{ id: 'p', tool: 'write' }] }
  room.ann.dispatch(session, { type: 'session/configChanged', config })
  expect(textOf(await room.turn(`write ${join(room.folder, 'free')} x`))).toBe('written')
  const turnId = room.begin(`write ${join(room.folder, '.git/config')} x`)
  room.decide(await room.pendingCall(), false)
  expect(textOf(await room.ended(turnId))).toContain('refused')
})

test('[N43.5] [N43] a command runs in a terminal that all clients can watch, with its output and exit code', async () => {
  const room = await acpRoom()
  const line = 'echo out-$((40+2)); exit 3'
  const turn = await room.turnAllowingAll(
    `allowed c1 ${input({ command: line })}\nrun ${line}\nchange c1 {"status":"failed"}`,
  )
  expect(textOf(turn)).toBe('exit 3: out-42')
  const [call] = callsOf(turn.responseParts)
  const [shown] = (call && 'content' in call && call.content) || []
  if (shown?.type !== 'terminal') throw new Error(`no terminal: ${JSON.stringify(call)}`)
  const { snapshot } = await room.ann.ask('subscribe', { channel: shown.resource })
  expect(JSON.stringify(snapshot?.state)).toContain('out-42')
  expect(snapshot?.state).toMatchObject({ lifecycle: { status: 'exited', exitCode: 3 } })
  expect(callsOf(turn.responseParts)).toHaveLength(1)
})

test('[N43] a command without an allowed call asks users, and an approval of another command does not count', async () => {
  const room = await acpRoom()
  const turnId = room.begin(`allowed c1 ${input({ command: 'echo one' })}\nrun e\nrun echo one\nrun echo one`)
  const first = await room.pendingCall()
  room.decide(first, true)
  const second = await room.pendingCall(({ toolCallId }) => toolCallId !== first.toolCallId)
  expect(second).toMatchObject({ displayName: 'Run', toolInput: 'e' })
  room.decide(second, false)
  // The script runs `echo one` twice. The first run used up the approval, so users are asked about the second run.
  const third = await room.pendingCall(({ toolCallId }) => toolCallId !== second.toolCallId)
  expect(third).toMatchObject({ toolInput: 'echo one' })
  room.decide(third, false)
  const text = textOf(await room.ended(turnId))
  expect(text).toBe('refused: no user has allowed this|exit 0: one|refused: no user has allowed this')
})

test('[N43.5] [N43] output over the agent’s limit is cut to its end, without half a character', async () => {
  const room = await acpRoom()
  const turn = await room.turnAllowingAll(`run printf ${'é'.repeat(30)}x`)
  // The scripted agent limits the output to 40 bytes.
  expect(textOf(turn)).toBe(`exit 0 cut: ${'é'.repeat(19)}x`)
})

test('[N43.5] [N43] a command ends when the agent kills it, and with its turn', async () => {
  const room = await acpRoom()
  expect(textOf(await room.turnAllowingAll('run-kill sleep 1000'))).toMatch(/^killed /)
  const turnId = room.begin('run sleep 1000')
  room.decide(await room.pendingCall(), true)
  await room.ann.until(() => JSON.stringify(room.chat.activeTurn).includes('ahp-terminal'))
  const [, uri = ''] = /"resource":"(ahp-terminal[^"]*)"/.exec(JSON.stringify(room.chat.activeTurn)) ?? []
  await room.ann.ask('subscribe', { channel: uri })
  room.cancel(turnId)
  await room.ended(turnId)
  await room.ann.until(() => JSON.stringify(room.ann.state(uri)['lifecycle']).includes('exited'))
})

test('[N43] a request with an unknown terminal or invalid params gets an error, and the turn goes on', async () => {
  const room = await acpRoom()
  const rawRequest = (method: string, params: object) =>
    `raw ${JSON.stringify({ jsonrpc: '2.0', id: `x-${method}`, method, params: { sessionId: '$SESSION', ...params } })}`
  const lines = [
    rawRequest('terminal/output', { terminalId: 'term-9' }),
    rawRequest('terminal/create', { command: 5 }),
    rawRequest('fs/write_text_file', { path: 5 }),
    rawRequest('session/request_permission', { toolCall: 5, options: 5 }),
    rawRequest('elicitation/create', { requestedSchema: { properties: { a: null } } }),
  ]
  const ids = lines.map((line) => (JSON.parse(line.slice('raw '.length)) as { id: string }).id)
  const turn = await room.turn([...lines, `answered ${ids.join(' ')}`, 'say on'].join('\n'))
  expect([textOf(turn), turn.state]).toEqual(['on', 'complete'])
})
