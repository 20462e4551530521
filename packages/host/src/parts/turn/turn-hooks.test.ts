import { callIn } from '@atrium/protocol/chat/calls'
import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { accepted, chat, started, twoClientSession } from '../../../test/two-client-session.ts'
import type { HookOutcome, HookRun, HookRunner } from '../../ports/hooks.ts'
import { matches } from '../customizations/hook-matcher.ts'

const start = { type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'run', displayName: 'Run' } as const
const ready = {
  type: 'chat/toolCallReady',
  toolCallId: 'c',
  invocationMessage: 'Run',
  toolInput: '{"a":1}',
} as const

test('[H18] hooks run before the message, before and after each tool call, and before the end of a turn', async () => {
  const { all, runs, events } = await withHooks({
    SessionStart: 'start',
    UserPromptSubmit: 'prompt',
    PreToolUse: 'pre',
    PostToolUse: 'post',
    Stop: 'stop',
  })
  await accepted(all.ann, chat, started('t1', 'hello'))
  const run = await all.agent.given(0)
  run.say(start, { ...ready, confirmed: 'not-needed' })
  const result = { success: true, pastTenseMessage: 'Ran' }
  run.say({ type: 'chat/toolCallComplete', toolCallId: 'c', result })
  run.end()
  await until(() => stateOf(all).turns.length === 1)
  expect(events()).toEqual(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'])
  expect(runs.map(({ input }) => JSON.parse(input) as unknown)).toMatchObject([
    { cwd: '/a', session_id: expect.any(String) },
    { prompt: 'hello' },
    { tool_name: 'run', tool_input: { a: 1 } },
    { tool_name: 'run', tool_response: { success: true } },
    {},
  ])
})

test('[H18.1] [H18] exit code 2 refuses a message, with the reason', async () => {
  const { all } = await withHooks(
    { UserPromptSubmit: 'no' },
    { no: { exitCode: 2, stdout: '', stderr: 'Not now.\n' } },
  )
  await accepted(all.ann, chat, started('t1'))
  await until(() => stateOf(all).turns.length === 1)
  expect(all.agent.runs).toHaveLength(0)
  expect(stateOf(all).turns[0]?.responseParts.at(-1)).toMatchObject({
    kind: 'error',
    error: { errorType: 'hook', message: 'A hook has refused this message: Not now.' },
  })
})

test('[H18.1] [H18] exit code 2 denies a tool call, and the agent goes on', async () => {
  const outcome = { exitCode: 2, stdout: '', stderr: 'Never.' }
  const { all } = await withHooks({ PreToolUse: 'no' }, { no: outcome })
  await accepted(all.ann, chat, started('t1'))
  const run = await all.agent.given(0)
  run.say(start, { ...ready, confirmed: 'not-needed' })
  await until(() => callIn(stateOf(all), 'c')?.status === 'cancelled')
  expect(callIn(stateOf(all), 'c')).toMatchObject({ reason: 'denied', reasonMessage: 'Never.' })
  run.end()
  await until(() => stateOf(all).turns.at(0)?.state === 'complete')
})

test('[H18.1] [H18] a hook that fails blocks nothing, and the chat says that it failed', async () => {
  const { all } = await withHooks(
    { UserPromptSubmit: 'bad' },
    { bad: { exitCode: 1, stdout: '', stderr: 'Oops.' } },
  )
  await accepted(all.ann, chat, started('t1'))
  const run = await all.agent.given(0)
  run.end()
  await until(() => stateOf(all).turns.length === 1)
  expect(stateOf(all).turns[0]?.responseParts).toMatchObject([
    {
      kind: 'systemNotification',
      content: 'A hook for UserPromptSubmit failed. It ended with exit code 1. Oops.',
    },
  ])
})

test('[H18.2] [H18] the output of a hook before a message is context for the agent', async () => {
  const { all } = await withHooks(
    { SessionStart: 'greet', UserPromptSubmit: 'say' },
    {
      greet: { exitCode: 0, stdout: 'Hello.\n', stderr: '' },
      say: { exitCode: 0, stdout: 'It is Monday.\n', stderr: '' },
    },
  )
  await accepted(all.ann, chat, started('t1'))
  const run = await all.agent.given(0)
  expect((await run.chat.customized()).context).toEqual(['Hello.', 'It is Monday.'])
  run.end()
})

test.each([
  ['[S-57 hookMs] at 60,000 a hook has its own time', 60, 60_000],
  ['[S-57 hookMs] past 60,000 a hook has less than it asks for', 61, 60_000],
  ['[H18.3] [H18] a hook may ask for less time', 5, 5000],
])('%s', async (_, timeout, timeoutMs) => {
  const { all, runs } = await withHooks({ Stop: 'stop' }, {}, { timeout })
  await accepted(all.ann, chat, started('t1'))
  const run = await all.agent.given(0)
  run.end()
  await until(() => stateOf(all).turns.length === 1)
  expect(runs).toMatchObject([{ line: 'stop', timeoutMs, maxLength: 32_768 }])
})

test.each([
  ['Write|Edit', 'edit', true],
  ['Bash', 'run', true],
  ['(Write|Bash)', 'run', true],
  ['Read', 'read', true],
  ['Edit', 'edit', true],
  ['Write', 'write', true],
  ['Grep', 'search', true],
  ['LS', 'list', true],
  ['mcp__.*', 'mcp__docs__find', true],
  ['Read', 'edit', false],
  ['(?=a)', 'a', false],
  [undefined, 'edit', true],
])('[H18.4] [H18] the matcher %j covers %s: %s', (matcher, tool, covers) => {
  expect(matches(matcher, tool)).toBe(covers)
})

/** A session whose user has hooks: a command by event. `outcomes` has what a command does; the others succeed. */
async function withHooks(
  commands: { readonly [event: string]: string },
  outcomes: { readonly [line: string]: HookOutcome } = {},
  more: object = {},
) {
  const runs: HookRun[] = []
  const hooks: HookRunner = {
    system: 'linux',
    run: async (run) => {
      runs.push(run)
      return outcomes[run.line] ?? { exitCode: 0, stdout: '', stderr: '' }
    },
  }
  const files = new FakeFiles()
  const rules = Object.entries(commands).map(([event, command]) => [
    event,
    [{ hooks: [{ type: 'command', command, ...more }] }],
  ])
  files.put('/home/.agents/hooks/mine.json', JSON.stringify({ hooks: Object.fromEntries(rules) }))
  const customizations = { hash: String, home: '/home' }
  const all = await twoClientSession(new ScriptedAgent(), { machine: { files, customizations, hooks } })
  const events = () =>
    runs.map(({ input }) => (JSON.parse(input) as { hook_event_name: string }).hook_event_name)
  return { all, runs, events }
}

function stateOf({ ann }: { readonly ann: { state(uri: string): unknown } }): ChatState {
  // The channel is that of a chat.
  return ann.state(chat) as ChatState
}
