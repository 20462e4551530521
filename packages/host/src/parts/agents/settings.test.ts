import type { SessionConfigSchema } from '@atrium/protocol/common/config'
import { describe, expect, test } from 'vitest'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import { sessionOf } from '../../../test/two-client-session.ts'
import { sessionSchema } from './settings.ts'

const schema: SessionConfigSchema = {
  type: 'object',
  properties: {
    tone: { type: 'string', title: 'Tone', enum: ['warm', 'cold'], default: 'warm' },
    depth: { type: 'number', title: 'Depth' },
    branch: { type: 'string', title: 'Branch', enumDynamic: true },
    fixed: { type: 'string', title: 'Fixed', readOnly: true, default: 'x' },
  },
}
const choices = async (property: string, query: string, directory: string | undefined) => [
  { value: `${property} ${query} ${directory ?? 'nowhere'}`, label: 'One' },
]
const joined = async (settings = { schema, choices }) => {
  const all = await testHost({ agents: [new ScriptedAgent({ settings })] })
  return { all, ann: await all.join('ann') }
}

describe('[H7] [H7.3] the settings of a session', () => {
  const rows: readonly (readonly [given: object | undefined, values: object])[] = [
    [undefined, { tone: 'warm', fixed: 'x' }],
    [{}, { tone: 'warm', fixed: 'x' }],
    [
      { tone: 'cold', depth: 2 },
      { tone: 'cold', depth: 2, fixed: 'x' },
    ],
    [{ branch: 'any' }, { tone: 'warm', branch: 'any', fixed: 'x' }],
    [
      { isolation: 'folder', constructor: 1 },
      { tone: 'warm', fixed: 'x' },
    ],
  ]
  test.each(rows)('%j become %j, resolved or at creation', async (given, values) => {
    const { all, ann } = await joined()
    const config = given as Record<string, unknown>
    expect(await ann.ask('resolveSessionConfig', { provider: 'mock', config })).toEqual({ schema, values })
    await ann.ask('createSession', { channel: session, config })
    expect(sessionOf(all).config).toEqual({ schema: sessionSchema(schema), values })
  })

  test.each([
    [{ tone: 'loud' }, 'tone must be one of "warm", "cold"'],
    [{ tone: 1 }, 'tone must be a string'],
    [{ depth: '2' }, 'depth must be a number'],
    [{ depth: null }, 'depth must be a number'],
    [{ fixed: 'y' }, 'fixed can only be read'],
  ])('%j are none', async (config, problem) => {
    const { ann } = await joined()
    const resolved = ann.ask('resolveSessionConfig', { provider: 'mock', config })
    await expect(resolved).rejects.toMatchObject({
      code: -32602,
      message: `resolveSessionConfig: ${problem}`,
    })
    const made = ann.ask('createSession', { channel: session, config })
    await expect(made).rejects.toMatchObject({ code: -32602, message: `createSession: ${problem}` })
  })

  test('of an unknown agent are -32002; without an agent, those of the default one', async () => {
    const { ann } = await joined()
    const nobody = ann.ask('resolveSessionConfig', { provider: 'nobody' })
    await expect(nobody).rejects.toMatchObject({ code: -32002 })
    expect(await ann.ask('resolveSessionConfig', {})).toMatchObject({ values: { tone: 'warm' } })
  })
})

describe('[H7] the choices for a setting', () => {
  const ask = { provider: 'mock', config: {}, property: 'branch' }

  test('are filtered by the typed text and the directory', async () => {
    const { ann } = await joined()
    const found = await ann.ask('sessionConfigCompletions', {
      ...ask,
      query: 'ma',
      workingDirectory: 'file:///a',
    })
    expect(found).toEqual({ items: [{ value: 'branch ma file:///a', label: 'One' }] })
    const all = await ann.ask('sessionConfigCompletions', ask)
    expect(all).toEqual({ items: [{ value: 'branch  nowhere', label: 'One' }] })
  })

  test.each(['tone', 'depth', 'none', 'constructor', '__proto__x'])('%s has none', async (property) => {
    const { ann } = await joined()
    const asked = ann.ask('sessionConfigCompletions', { ...ask, property })
    await expect(asked).rejects.toMatchObject({ code: -32602 })
  })

  test('S-27: that cannot be found are an error without internal details', async () => {
    const failing = { schema, choices: () => Promise.reject(new Error('EACCES /root')) }
    const { ann } = await joined(failing)
    const asked = ann.ask('sessionConfigCompletions', ask)
    await expect(asked).rejects.toMatchObject({ code: -32603, message: 'internal error' })
  })
})
