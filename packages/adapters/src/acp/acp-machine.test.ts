import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { expect, test } from 'vitest'
import { newPlace } from '../../test/acp.ts'
import { acpRoom, callsOf, session, textOf } from '../../test/acp-room.ts'

const input = (value: object) => JSON.stringify({ rawInput: value })

test('[N43] a file is written for a call that was allowed and names it, and nobody is asked twice', async () => {
  const all = await acpRoom()
  const path = join(all.work, 'a.txt')
  const turn = await all.allowing(
    `allowed c1 ${input({ path })}\nwrite ${path} hello\nchange c1 {"status":"completed"}`,
  )
  expect([readFileSync(path, 'utf8'), textOf(turn)]).toEqual(['hello', 'written'])
  expect(callsOf(turn.responseParts)).toMatchObject([{ status: 'completed', success: true }])
})

test('[N43] a file that no call was allowed for is asked for, with what would change', async () => {
  const all = await acpRoom()
  const path = join(all.work, 'a.txt')
  writeFileSync(path, 'before')
  // That another was allowed is nothing to this one.
  const another = input({ path: `${path}.old` })
  const turnId = all.begin(`allowed c1 ${another}\nwrite ${path} after\nwrite ${path} again`)
  all.decide(await all.asked(), true)
  const first = await all.asked(({ displayName }) => displayName === 'Write')
  expect(first).toMatchObject({ displayName: 'Write', edits: { items: [{ before: {}, after: {} }] } })
  expect(readFileSync(path, 'utf8')).toBe('before')
  all.decide(first, true)
  all.decide(await all.asked(({ toolCallId }) => toolCallId !== first.toolCallId), false)
  expect(textOf(await all.ended(turnId))).toBe('written|refused: nobody has agreed to this')
  expect(readFileSync(path, 'utf8')).toBe('after')
})

test('[N43] what lies outside of the session’s folders, by any way, is refused; and nobody is asked', async () => {
  const all = await acpRoom()
  const outside = newPlace()
  symlinkSync(outside, join(all.work, 'link'))
  const places = [join(outside, 'x'), `${all.work}/../x`, join(all.work, 'link', 'x'), '/etc/x']
  for (const path of places) {
    const turn = await all.turn(`write ${path} no`)
    expect(textOf(turn)).toContain('refused: ')
    expect(callsOf(turn.responseParts)).toEqual([])
  }
  expect(existsSync(join(outside, 'x'))).toBe(false)
})

test('[N43] a protected file is asked for, whatever was allowed', async () => {
  const all = await acpRoom()
  mkdirSync(join(all.work, '.git'))
  const config = { 'atrium.permissions': [{ id: 'p', tool: 'write' }] }
  all.ann.dispatch(session, { type: 'session/configChanged', config })
  expect(textOf(await all.turn(`write ${join(all.work, 'free')} x`))).toBe('written')
  const turnId = all.begin(`write ${join(all.work, '.git/config')} x`)
  all.decide(await all.asked(), false)
  expect(textOf(await all.ended(turnId))).toContain('refused')
})

test('[N43] a line runs in a terminal that everyone can watch, with its output and how it ended', async () => {
  const all = await acpRoom()
  const line = 'echo out-$((40+2)); exit 3'
  const turn = await all.allowing(
    `allowed c1 ${input({ command: line })}\nrun ${line}\nchange c1 {"status":"failed"}`,
  )
  expect(textOf(turn)).toBe('exit 3: out-42')
  const [call] = callsOf(turn.responseParts)
  const [shown] = (call && 'content' in call && call.content) || []
  if (shown?.type !== 'terminal') throw new Error(`no terminal: ${JSON.stringify(call)}`)
  const { snapshot } = await all.ann.ask('subscribe', { channel: shown.resource })
  const state = snapshot?.state as TerminalState
  expect(JSON.stringify(state.content)).toContain('out-42')
  expect(state).toMatchObject({ lifecycle: { status: 'exited', exitCode: 3 } })
  expect(callsOf(turn.responseParts)).toHaveLength(1)
})

test('[N43] a line that no call was allowed for is asked for; allowed for another line is not for this one', async () => {
  const all = await acpRoom()
  const turnId = all.begin(`allowed c1 ${input({ command: 'echo one' })}\nrun e\nrun echo one\nrun echo one`)
  const first = await all.asked()
  all.decide(first, true)
  const second = await all.asked(({ toolCallId }) => toolCallId !== first.toolCallId)
  expect(second).toMatchObject({ displayName: 'Run', toolInput: 'e' })
  all.decide(second, false)
  // What was allowed was used once.
  const third = await all.asked(({ toolCallId }) => toolCallId !== second.toolCallId)
  expect(third).toMatchObject({ toolInput: 'echo one' })
  all.decide(third, false)
  const text = textOf(await all.ended(turnId))
  expect(text).toBe('refused: nobody has agreed to this|exit 0: one|refused: nobody has agreed to this')
})

test('[N43] of more output than was asked for the newest is given, and no half of a letter', async () => {
  const all = await acpRoom()
  const turn = await all.allowing(`run printf ${'é'.repeat(30)}x`)
  // 40 bytes were asked for.
  expect(textOf(turn)).toBe(`exit 0 cut: ${'é'.repeat(19)}x`)
})

test('[N43] a line is ended when the agent says so, and with its turn', async () => {
  const all = await acpRoom()
  expect(textOf(await all.allowing('run-kill sleep 1000'))).toMatch(/^killed /)
  const turnId = all.begin('run sleep 1000')
  all.decide(await all.asked(), true)
  await all.ann.until(() => JSON.stringify(all.chat.activeTurn).includes('ahp-terminal'))
  const [, uri = ''] = /"resource":"(ahp-terminal[^"]*)"/.exec(JSON.stringify(all.chat.activeTurn)) ?? []
  await all.ann.ask('subscribe', { channel: uri })
  all.cancel(turnId)
  await all.ended(turnId)
  await all.ann.until(() => (all.ann.state(uri) as unknown as TerminalState).lifecycle.status === 'exited')
})

test('[N43] a terminal that is not there, and words that are none, are refused in words', async () => {
  const all = await acpRoom()
  const asking = (method: string, params: object) =>
    `raw ${JSON.stringify({ jsonrpc: '2.0', id: `x-${method}`, method, params: { sessionId: '$SESSION', ...params } })}`
  const lines = [
    asking('terminal/output', { terminalId: 'term-9' }),
    asking('terminal/create', { command: 5 }),
    asking('fs/write_text_file', { path: 5 }),
    asking('session/request_permission', { toolCall: 5, options: 5 }),
    asking('elicitation/create', { requestedSchema: { properties: { a: null } } }),
  ]
  const ids = lines.map((line) => (JSON.parse(line.slice('raw '.length)) as { id: string }).id)
  const turn = await all.turn([...lines, `answered ${ids.join(' ')}`, 'say on'].join('\n'))
  expect([textOf(turn), turn.state]).toEqual(['on', 'complete'])
})
