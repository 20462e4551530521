import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acpRoom, callsOf, chat, session, textOf } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'

const input = (value: unknown, more: object = {}) => JSON.stringify({ rawInput: value, ...more })

/** Asks the host for something as no library would, and does not wait for what comes of it. */
const asking = (method: string, params: object) =>
  `raw ${JSON.stringify({ jsonrpc: '2.0', id: `x-${method}`, method, params: { sessionId: '$SESSION', ...params } })}`

/** The first question is allowed; gives the second, which is denied. */
async function second(all: AcpRoom, text: string, toolName?: string) {
  const turnId = all.begin(text)
  const first = await all.asked()
  all.decide(first, true)
  const again = await all.asked((call) =>
    toolName === undefined ? JSON.stringify(call) !== JSON.stringify(first) : call.toolName === toolName,
  )
  all.decide(again, false)
  await all.ended(turnId)
  return again
}

test('[N43] what an agent says of a call after it was allowed is not what was allowed', async () => {
  const all = await acpRoom()
  const deed = join(all.work, 'deed')
  const line = `touch ${deed}`
  const changed = `change c1 ${input({ command: line }, { title: line })}`
  const run = await second(all, `allowed c1 ${input({ command: 'true' })}\n${changed}\nrun ${line}`)
  expect(run).toMatchObject({ toolInput: line })
  const path = join(all.work, 'a.txt')
  const diff = { content: [{ type: 'diff', path, oldText: null, newText: 'x' }] }
  const write = await second(
    all,
    `allowed c1 ${input({ path: `${path}.old` })}\nchange c1 ${JSON.stringify(diff)}\nwrite ${path} x`,
  )
  expect(write).toMatchObject({ edits: { items: [{}] } })
  expect([existsSync(deed), existsSync(path)]).toEqual([false, false])
})

test('[N43] a part of a line that was allowed, or a text in it, is no line that was', async () => {
  const all = await acpRoom()
  const line = `touch ${join(all.work, 'deed')}`
  for (const shown of [
    input({ command: `echo ${JSON.stringify(line)}` }),
    input({ path: 'a.txt', content: line }, { kind: 'edit' }),
    input({ command: 'true' }, { title: line }),
  ])
    expect(await second(all, `allowed c1 ${shown}\nrun ${line}`)).toMatchObject({ toolInput: line })
  expect(existsSync(join(all.work, 'deed'))).toBe(false)
})

test('[N43] other variables, another folder or a shell of its own are something else than the line', async () => {
  const all = await acpRoom()
  mkdirSync(join(all.work, 'sub'))
  const allowed = `allowed c1 ${input({ command: 'make' })}`
  const run = (more: object) =>
    `${allowed}\n${asking('terminal/create', { command: 'make', ...more })}\nanswered x-terminal/create`
  const env = [{ name: 'MAKEFLAGS', value: '-f evil' }]
  expect(await second(all, run({ env }))).toMatchObject({
    toolInput: "export MAKEFLAGS='-f evil'; make",
  })
  const cwd = join(all.work, 'sub')
  expect(await second(all, run({ cwd }))).toMatchObject({ confirmationTitle: `It would run in ${cwd}` })
  const shell = join(all.work, 'sh')
  expect(await second(all, run({ command: shell, args: ['-c', 'make'] }))).toMatchObject({
    toolInput: `${shell} -c make`,
  })
})

test('[N43] a variable that only says on whose behalf a line is run makes it no other line', async () => {
  const all = await acpRoom()
  const script = (value: string) => {
    const env = [{ name: 'AGENT_SESSION_ID', value }]
    return `allowed c1 ${input({ command: 'true' })}\n${asking('terminal/create', { command: 'true', env })}\nanswered x-terminal/create`
  }
  const asked = async (value: string) =>
    callsOf((await all.allowing(script(value))).responseParts).map((call) => call._meta?.['x-atrium.asked'])
  expect(await asked('20261115_1')).toEqual([1])
  expect(await asked('$(reboot)')).toEqual([1, 2])
})

test('[N43] a line that was allowed once runs once, also when it is asked for twice in one breath', async () => {
  const all = await acpRoom()
  const command = `echo done >> ${join(all.work, 'deeds')}`
  const run = asking('terminal/create', { command })
  const both = `${run}$NEXT${run.slice('raw '.length).replace('x-', 'y-')}\nanswered x-terminal/create y-terminal/create`
  // Whether the call was allowed before, or is asked about now.
  for (const first of ['allowed', 'change']) {
    const again = await second(all, `${first} c1 ${input({ command })}\n${both}`, 'run')
    expect(again).toMatchObject({ toolInput: command })
  }
  expect(readFileSync(join(all.work, 'deeds'), 'utf8')).toBe('done\ndone\n')
})

test('[N43] that a file may be read, or is where a call is at work, is not that it may be written', async () => {
  const all = await acpRoom()
  const path = join(all.work, 'a.txt')
  writeFileSync(path, 'before')
  for (const shown of [
    input({ path }, { kind: 'read' }),
    input({ command: `cat ${JSON.stringify(path)}` }),
    JSON.stringify({ title: 'Look', locations: [{ path }] }),
  ])
    expect(await second(all, `allowed c1 ${shown}\nwrite ${path} after`)).toMatchObject({
      edits: { items: [{ before: {}, after: {} }] },
    })
  expect(readFileSync(path, 'utf8')).toBe('before')
})

test('[N43] what is written is what was shown, whole or in part; else it is shown, and asked for', async () => {
  const all = await acpRoom()
  const path = join(all.work, 'a.txt')
  writeFileSync(path, 'one two')
  const allowed = (oldText: string | null, newText: string) =>
    `allowed c1 ${JSON.stringify({ kind: 'edit', content: [{ type: 'diff', path, oldText, newText }] })}`
  const again = await second(all, `${allowed('one two', 'one 2')}\nwrite ${path} evil`)
  expect(again).toMatchObject({ confirmationTitle: 'It would write something else than was shown' })
  expect(readFileSync(path, 'utf8')).toBe('one two')
  for (const [oldText, newText, written] of [
    ['two', '2', 'one 2'],
    ['one 2', 'one 3', 'one 3'],
  ] as const) {
    const turnId = all.begin(`${allowed(oldText, newText)}\nwrite ${path} ${written}`)
    all.decide(await all.asked(), true)
    expect(textOf(await all.ended(turnId))).toBe('written')
  }
})

test('[N43] what is allowed for a tool is so for that, and not for whatever else a call of its name does', async () => {
  const all = await acpRoom()
  const permissions = ['write', 'edit', 'read'].map((tool) => ({ id: tool, tool }))
  all.ann.dispatch(session, {
    type: 'session/configChanged',
    config: { 'atrium.permissions': permissions },
  })
  const line = `touch ${join(all.work, 'deed')}`
  for (const name of ['write', 'edit', 'read']) {
    const turnId = all.begin(`allowed c1 ${input({ command: line }, { kind: name })}\nrun ${line}`)
    const call = await all.asked()
    expect(call).toMatchObject({ toolName: 'run', toolInput: line })
    all.decide(call, false)
    await all.ended(turnId)
  }
  expect(existsSync(join(all.work, 'deed'))).toBe(false)
})

test('[N46] what was allowed before the host died is what was shown then, and nothing else of that title', async () => {
  const all = await acpRoom()
  const path = join(all.work, 'a.txt')
  const about = (newText: string) =>
    JSON.stringify({ title: 'Edit files', kind: 'edit', content: [{ type: 'diff', path, newText }] })
  const turnId = all.begin(`allowed c1 ${about('good')}\nwrite ${path} good`)
  const call = await all.asked()
  // What it does next it has thought of anew.
  const stored = readdirSync(all.agent.folder).filter((name) => name.endsWith('.json'))
  for (const file of stored.map((name) => join(all.agent.folder, name)))
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('good', 'evil'))
  const next = await all.restarted('close')
  next.decide(call, true)
  const again = await next.asked(({ toolCallId }) => toolCallId !== call.toolCallId)
  expect(again).toMatchObject({ edits: { items: [{ after: {} }] } })
  next.decide(again, false)
  next.decide(await next.asked(({ toolCallId }) => toolCallId !== again.toolCallId), false)
  await next.ended(turnId)
  expect(existsSync(path)).toBe(false)
})

test('[X1] an answer is heard, whatever its client says beside it', async () => {
  const all = await acpRoom()
  const turnId = all.begin('ask c1')
  const { toolCallId } = await all.asked()
  const answer = { turnId, toolCallId, approved: true, confirmed: 'user-action' }
  all.ann.dispatch(chat, { type: 'chat/toolCallConfirmed', ...answer, _meta: { theirs: 1 } })
  expect(textOf(await all.ended(turnId))).toMatch(/^c1 (?:once|always)$/)
})
