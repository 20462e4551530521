import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { commandFor, readHooks } from './hooks.ts'

const read = (value: object) => readHooks({ ...value }, limits)
const command = { any: 'run' }

test('[K5.1] [K5] the forms of a file with hooks', () => {
  const action = { type: 'command', command: 'run' }
  const expected = { hooks: [{ event: 'Stop', command }], problems: [] }
  expect(read({ hooks: { Stop: [{ hooks: [action] }] } })).toEqual(expected)
  expect(read({ hooks: { Stop: [{ command: 'run' }] } })).toEqual(expected)
  expect(read({ Stop: [{ matcher: '*', hooks: [action] }] })).toEqual(expected)
  expect(read({ version: 1, hooks: { agentStop: [{ bash: 'run' }] } })).toEqual(expected)
  expect(read({ hooks: { Stop: [{ matcher: '', hooks: [action] }] } })).toEqual(expected)
  expect(read({ disableAllHooks: true, hooks: { Stop: [action] } })).toEqual({ hooks: [], problems: [] })
})

test('[K5] a hook has a matcher, a command for each system, a timeout, variables and a directory', () => {
  const action = {
    command: 'any',
    windows: 'win',
    osx: 'mac',
    timeout: 2.5,
    env: { A: 'b' },
    cwd: '~/x',
  }
  const { hooks, problems } = read({ hooks: { PreToolUse: [{ matcher: 'Write|Edit', hooks: [action] }] } })
  expect(problems).toEqual([])
  const hook = {
    event: 'PreToolUse',
    matcher: 'Write|Edit',
    command: { any: 'any', windows: 'win', osx: 'mac' },
    timeoutSeconds: 2.5,
    env: { A: 'b' },
    cwd: '~/x',
  }
  expect(hooks).toEqual([hook])
  expect((['windows', 'linux', 'osx'] as const).map((system) => commandFor(hook, system))).toEqual([
    'win',
    'any',
    'mac',
  ])
  const other = read({ userPromptSubmitted: [{ powershell: 'ps', timeoutSec: 3 }] })
  expect(other.hooks).toEqual([{ event: 'UserPromptSubmit', command: { windows: 'ps' }, timeoutSeconds: 3 }])
})

test('[K5.1] [K5] unknown events are ignored', () => {
  expect(read({ hooks: { MoonRise: [{ command: 'run' }], toString: 7 } })).toEqual({
    hooks: [],
    problems: [],
  })
})

test.each([
  [7, 'A hook is not an object.'],
  [{ type: 'prompt', prompt: 'x' }, 'A hook of the type "prompt" is not supported.'],
  [{ type: 'command' }, 'A hook has no command.'],
  [{ command: ' ' }, 'A hook has no command.'],
  [{ command: ['run'] }, 'A hook has no command.'],
  [{ command: 'a\0b' }, 'A hook has no command.'],
  [{ command: 'a', matcher: '(' }, 'A matcher is no regular expression that is supported.'],
  [{ command: 'a', matcher: 'x'.repeat(1025) }, 'A matcher is no regular expression that is supported.'],
  [{ command: 'a', timeout: -1 }, 'A timeout is not a number of seconds.'],
  [{ command: 'a', timeout: '5' }, 'A timeout is not a number of seconds.'],
  [{ command: 'a', env: { A: 1 } }, 'The env of a hook is not an object of texts.'],
  [{ command: 'a', env: { 'A=B': 'x' } }, 'The env of a hook is not an object of texts.'],
  [{ command: 'a', cwd: 7 }, 'The cwd of a hook is not a path.'],
])('[K5.2] [K5] the action %j is left out alone', (action, message) => {
  const { hooks, problems } = read({ hooks: { Stop: [action, { command: 'run' }] } })
  expect(hooks).toEqual([{ event: 'Stop', command }])
  expect(problems).toEqual([`Stop: ${message}`])
})

test('[K5] a file of another shape is a problem', () => {
  expect(read({ hooks: [] }).problems).toEqual(['The field hooks is not an object.'])
  expect(read({ hooks: { Stop: 'run' } }).problems).toEqual(['The event Stop is not a list.'])
})
