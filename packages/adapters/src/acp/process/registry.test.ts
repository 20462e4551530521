import { chmodSync, readFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/acp.ts'
import { programEnvironment } from '../../process/program-environment.ts'
import { asking } from './asking.ts'
import { findAgents, knownAgents } from './registry.ts'

test('[N48] agents are found on the PATH by the names of their programs, in the order of the PATH', async () => {
  const [first, second] = [temporaryFolder(), temporaryFolder()]
  program(join(first, 'claude-agent-acp'))
  for (const folder of [first, second]) program(join(folder, 'goose'))
  program(join(second, 'gemini'))
  // The next three entries are not known programs: a file that is not executable, a folder, and a file with an unknown name.
  writeFileSync(join(first, 'gemini'), '')
  mkdirSync(join(first, 'opencode'))
  program(join(first, 'something-else'))
  const found = await findAgents({}, { PATH: `${first}:${second}:relative:` })
  expect(found.map(({ name, command, args }) => [name, command, ...args])).toEqual([
    ['claude', join(first, 'claude-agent-acp')],
    ['gemini', join(second, 'gemini'), '--acp', '--approval-mode', 'default'],
    ['goose', join(first, 'goose'), 'acp'],
  ])
  expect(await findAgents({}, {})).toEqual([])
})

test('[N48] a symbolic link is started by its own name and not by the name of its target', async () => {
  const folder = temporaryFolder()
  program(join(folder, 'shim'))
  symlinkSync(join(folder, 'shim'), join(folder, 'goose'))
  expect(await findAgents({}, { PATH: folder })).toMatchObject([{ command: join(folder, 'goose') }])
})

test('[N48.1] [N48] the config of an agent wins over the PATH: command, arguments, variables, limits, and disabled', async () => {
  const folder = temporaryFolder()
  for (const name of ['goose', 'gemini', 'codex-acp']) program(join(folder, name))
  const found = await findAgents(
    {
      mine: {
        command: '/opt/mine',
        args: ['acp'],
        env: { A: '1' },
        displayName: 'Mine',
        variables: ['MY_KEY'],
      },
      codex: { args: ['-c', 'x'], memoryMb: 2, turnMinutes: 3 },
      gemini: { disabled: true },
    },
    { PATH: folder },
  )
  expect(found).toMatchObject([
    { name: 'mine', displayName: 'Mine', command: '/opt/mine', args: ['acp'], env: { A: '1' } },
    {
      name: 'codex',
      displayName: 'Codex',
      command: join(folder, 'codex-acp'),
      args: ['-c', 'x', '-c', 'approval_policy="on-request"', '-c', 'sandbox_mode="read-only"'],
      memoryBytes: 2 ** 21,
      turnMs: 180_000,
    },
    { name: 'goose' },
  ])
  const [mine, codex] = found
  expect(['MY_KEY', 'MY_KEYS', 'OPENAI_API_KEY', ''].map((name) => mine?.variables.test(name))).toEqual([
    true,
    false,
    false,
    false,
  ])
  expect(codex?.variables.test('OPENAI_API_KEY')).toBe(true)
  expect(codex?.variables.test('ANTHROPIC_API_KEY')).toBe(false)
})

test('[S-38] an agent for models of many vendors gets the keys of those vendors, and no others', async () => {
  const folder = temporaryFolder()
  for (const name of ['goose', 'opencode', 'pi-acp']) program(join(folder, name))
  for (const { variables } of await findAgents({}, { PATH: folder })) {
    const names = [
      'OPENAI_API_KEY',
      'OPENROUTER_API_KEY',
      'STRIPE_API_KEY',
      'MY_OPENAI_API_KEY',
      'DD_API_KEY',
    ]
    expect(names.filter((name) => variables.test(name))).toEqual(['OPENAI_API_KEY', 'OPENROUTER_API_KEY'])
  }
})

test('[N48] a known program at a configured path gets its usual arguments, and one without a path is found on the PATH', async () => {
  const folder = temporaryFolder()
  program(join(folder, 'goose'))
  const settings = {
    gemini: { command: '/opt/bin/gemini' },
    qwen: { command: '/opt/wrapper' },
    goose: { env: { A: '1' } },
  }
  const found = await findAgents(settings, { PATH: folder })
  expect(found.map(({ command, args }) => [command, ...args])).toEqual([
    ['/opt/bin/gemini', '--acp', '--approval-mode', 'default'],
    ['/opt/wrapper', '--approval-mode', 'default'],
    [join(folder, 'goose'), 'acp'],
  ])
})

test('[N49.4] qwen waits for its MCP servers before its first turn, unless its config says otherwise', async () => {
  const variable = 'QWEN_CODE_LEGACY_MCP_BLOCKING'
  const value = async (env = {}) => {
    const [qwen] = await findAgents({ qwen: { command: '/opt/qwen', env } }, { PATH: '' })
    return qwen?.env[variable]
  }
  expect(await value()).toBe('1')
  expect(await value({ [variable]: '0' })).toBe('0')
})

test('[N48] names of object members, as `constructor`, are valid agent names', async () => {
  const found = await findAgents({ constructor: {}, toString: { command: '/x' } }, { PATH: '' })
  expect(found.map(({ name, command }) => [name, command])).toEqual([
    ['constructor', 'constructor'],
    ['toString', '/x'],
  ])
})

test('[N52] every known agent is started with the settings that make it ask, or is marked as acting without asking', async () => {
  const folder = temporaryFolder()
  const programs = ['claude-agent-acp', 'codex-acp', 'gemini', 'goose', 'opencode', 'copilot', 'qwen', 'kimi']
  for (const name of [...programs, 'pi-acp', 'cline']) program(join(folder, name))
  const found = await findAgents({}, { PATH: folder })
  expect(found.map(({ name }) => name).toSorted()).toEqual([...knownAgents].toSorted())
  expect(Object.keys(asking).toSorted()).toEqual([...knownAgents].toSorted())
  expect(found.filter(({ actsWithoutAsking }) => actsWithoutAsking).map(({ name }) => name)).toEqual([
    'pi',
    'cline',
  ])
  // Workers of goose never ask, so goose starts without the extension that offers them.
  const goose = found.find(({ name }) => name === 'goose')
  expect(readFileSync(goose?.env['GOOSE_ADDITIONAL_CONFIG_FILES'] ?? '', 'utf8')).toContain(
    'extensions:\n  summon:\n    enabled: false\n',
  )
  const opencode = found.find(({ name }) => name === 'opencode')
  const permission: object = JSON.parse(opencode?.env['OPENCODE_PERMISSION'] ?? '')
  // The last rule that matches counts, so the rule for all tools must be the first one.
  expect(Object.entries(permission)[0]).toEqual(['*', 'ask'])
  for (const tool of ['edit', 'bash', 'webfetch']) expect(permission).not.toHaveProperty(tool)
})

test('[N52.1] [N52] a config that takes a setting away marks the agent, and so does the config key itself', async () => {
  const marked = async (setting: object) => {
    const [goose] = await findAgents({ goose: { command: '/opt/goose', ...setting } }, { PATH: '' })
    return [goose?.actsWithoutAsking ?? false, goose?.env['GOOSE_MODE']]
  }
  expect(await marked({})).toEqual([false, 'approve'])
  expect(await marked({ env: { GOOSE_MODE: 'approve' } })).toEqual([false, 'approve'])
  expect(await marked({ env: { GOOSE_MODE: 'auto' } })).toEqual([true, 'auto'])
  expect(await marked({ actsWithoutAsking: true })).toEqual([true, undefined])
  const [mine] = await findAgents({ mine: { command: '/x', actsWithoutAsking: true } }, { PATH: '' })
  expect(mine).toMatchObject({ args: [], actsWithoutAsking: true })
})

test('[N52] a variable of the host cannot stop an agent from asking', async () => {
  const folder = temporaryFolder()
  program(join(folder, 'goose'))
  const host = { PATH: folder, GOOSE_MODE: 'auto' }
  const [goose] = await findAgents({}, host)
  if (!goose) throw new Error('goose was not found')
  const environment = programEnvironment(host, { own: goose.variables, configured: goose.env, mark: 'm' })
  expect(environment['GOOSE_MODE']).toBe('approve')
})

function program(file: string): void {
  writeFileSync(file, '#!/bin/sh\n')
  chmodSync(file, 0o755)
}
