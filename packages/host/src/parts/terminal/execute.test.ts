import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { toolCallStarted, call, confirmed, ready } from '../../../test/tool-call-actions.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { accepted, cancelled, chat, says, twoClientSession, turn } from '../../../test/two-client-session.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import { terminals as terminalsOf } from '../../catalog/lookup.ts'

/** Runs an approved command that does not exit by itself. */
async function running() {
  const terminals = fakeTerminals()
  const all = await twoClientSession(new ScriptedAgent(), { machine: { terminals } })
  const run = await turn(all, 't1', toolCallStarted(), ready({ toolInput: 'make' }))
  await accepted(all.ann, chat, confirmed)
  const { done } = await run.chat.run({ ...call, line: 'make' })
  const [shell] = terminals.shells
  if (!shell) throw new Error('nothing runs')
  return { all, run, done, shell }
}

test('[X1.4] [X1] a command that is denied while it runs is ended, and its turn goes on', async () => {
  const { all, run, done, shell } = await running()
  await says(all, run, ready({ confirmationTitle: 'Still?' }))
  await untilIdle()
  expect(shell.ended).toBe(false)
  await accepted(all.ben, chat, { ...confirmed, approved: false, reason: 'denied' })
  await until(() => shell.ended)
  expect(await done).toMatchObject({ exitCode: 129 })
  expect(run.signal.aborted).toBe(false)
})

test('[X1] a command that is approved again while it runs goes on', async () => {
  const { all, run, done, shell } = await running()
  await says(all, run, ready({ confirmationTitle: 'Still?' }))
  await accepted(all.ben, chat, confirmed)
  await untilIdle()
  expect(shell.ended).toBe(false)
  shell.exit(0)
  expect(await done).toMatchObject({ exitCode: 0 })
})

test('[X4] a running command can be read and ended, and can start in another folder of the session', async () => {
  const terminals = fakeTerminals()
  const all = await twoClientSession(new ScriptedAgent(), { machine: { terminals } })
  const run = await turn(all, 't1', toolCallStarted(), ready({ toolInput: 'make' }))
  await accepted(all.ann, chat, confirmed)
  const elsewhere = run.chat.run({ ...call, line: 'make', cwd: '/etc' })
  await expect(elsewhere).rejects.toThrow('"/etc" is in no folder of this session')
  expect(terminals.shells).toHaveLength(0)
  const running = await run.chat.run({ ...call, line: 'make' })
  const [shell] = terminals.shells
  shell?.say({ type: 'terminal/data', data: 'half' })
  await until(() => running.soFar().output === 'half')
  expect(running.soFar()).toMatchObject({ ended: false })
  await running.end()
  expect(shell?.ended).toBe(true)
  expect(await running.done).toMatchObject({ output: 'half', ended: true })
})

test('[X4] the command of a cancelled turn is ended without a result', async () => {
  const { all, done, shell } = await running()
  await accepted(all.ann, chat, cancelled('t1'))
  await until(() => shell.ended)
  await expect(done).rejects.toThrow('the turn is over')
})

test('[X4] a turn cancelled while its terminal is created runs nothing, and leaves no terminal', async () => {
  const terminals = fakeTerminals()
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const all = await twoClientSession(new ScriptedAgent(), { machine: { terminals }, soon })
  const run = await turn(all, 't1', toolCallStarted(), ready())
  await accepted(all.ann, chat, confirmed)
  holding = true
  const refused = expect(run.chat.run({ ...call, line: 'rm -r x' })).rejects.toThrow('over')
  await untilIdle()
  expect(terminalsOf(all.core())).toHaveLength(1)
  all.ann.dispatch(chat, cancelled('t1'))
  await untilIdle()
  holding = false
  for (const task of tasks.splice(0)) task()
  await refused
  expect(terminals.shells).toEqual([])
  await untilIdle()
  expect(terminalsOf(all.core())).toHaveLength(0)
})

test('[Y1] a turn cancelled while its shell starts ends the shell, and leaves no running terminal', async () => {
  const terminals = fakeTerminals()
  const all = await twoClientSession(new ScriptedAgent(), { machine: { terminals } })
  const run = await turn(all, 't1', toolCallStarted(), ready({ toolInput: 'make' }))
  await accepted(all.ann, chat, confirmed)
  let begin = () => {}
  terminals.delay = new Promise((resolve) => {
    begin = resolve
  })
  const ran = run.chat.run({ ...call, line: 'make' })
  await until(() => terminalsOf(all.core()).length === 1)
  await untilIdle()
  await accepted(all.ann, chat, cancelled('t1'))
  expect(terminals.shells).toEqual([])
  begin()
  const { done } = await ran
  await expect(done).rejects.toThrow('the turn is over')
  expect(terminals.shells.map(({ ended }) => ended)).toEqual([true])
  expect(terminalsOf(all.core())).toEqual([])
})

test('[Y9] [Y9.3] the output of a command includes what its terminal shows as commands, because a program printed marks', async () => {
  const { done, shell } = await running()
  shell.data('one\r\n')
  shell.say({ type: 'terminal/commandExecuted', commandId: 'c1', commandLine: 'ls', timestamp: 1 })
  shell.data('two\r\n')
  shell.say({ type: 'terminal/commandFinished', commandId: 'c1', exitCode: 3, durationMs: 2 })
  shell.data('three\r\n')
  shell.exit(0)
  expect(await done).toMatchObject({ exitCode: 0, output: 'one\ntwo\nthree' })
})

test('[Y9] [Y9.4] the outcome of a command says whether output is missing: its terminal has dropped it, or was cleared', async () => {
  const whole = await running()
  whole.shell.data('all\r\n')
  whole.shell.exit(0)
  expect(await whole.done).toMatchObject({ output: 'all', truncated: false })

  const long = await running()
  for (let n = 0; n < 30; n++) long.shell.data(`${n} ${'x'.repeat(60_000)}\r\n`)
  long.shell.exit(0)
  const { output, truncated } = await long.done
  expect(output.endsWith('x')).toBe(true)
  expect(output.length).toBeLessThan(limits.terminalLength)
  expect(truncated).toBe(true)

  const cleared = await running()
  cleared.shell.data('before\r\n')
  const [terminal] = terminalsOf(cleared.all.core())
  await accepted(cleared.all.ben, terminal?.resource ?? '', { type: 'terminal/cleared' })
  cleared.shell.data('after\r\n')
  cleared.shell.exit(0)
  expect(await cleared.done).toMatchObject({ output: 'after', truncated: true })
})
