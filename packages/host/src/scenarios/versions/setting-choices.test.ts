import type { SessionConfigSchema } from '@atrium/protocol/common/config'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { expect, test } from 'vitest'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

const schema: SessionConfigSchema = {
  type: 'object',
  properties: {
    depth: { type: 'number', title: 'Depth', enum: [1, 2, 3], default: 1, sessionMutable: true },
  },
}
const uri = 'mock:/1'

/** A host whose agent has a setting with numbers as choices, and clients of an older and of the newest version. */
async function configured(version: Version) {
  const all = await testHost({ agents: [new ScriptedAgent({ settings: { schema } })] })
  const [old, newest] = [new OlderClient(all, version), new OlderClient(all, '1.0.0')]
  for (const client of [old, newest]) await client.open()
  return { all, old, newest }
}

const depthOf = (client: OlderClient) => (client.state(uri)['config'] as { values: Value }).values['depth']
const choicesOf = (config: unknown) =>
  (config as { schema: { properties: { depth: { enum: readonly unknown[] } } } }).schema.properties.depth.enum

test.each<[Version, readonly unknown[]]>([
  ['0.1.0', ['1', '2', '3']],
  ['0.4.0', ['1', '2', '3']],
  ['0.5.0', [1, 2, 3]],
])('[V17] at %s a setting is set and shown by its choices', async (version, choices) => {
  const { old, newest } = await configured(version)
  const [one, two, three] = choices
  const resolved = await old.ask('resolveSessionConfig', { provider: 'mock', config: { depth: two } })
  expect(resolved).toMatchObject({ values: { depth: two } })
  expect(choicesOf(resolved)).toEqual(choices)
  await old.createSession(uri, { provider: 'mock', config: { depth: three } })
  for (const client of [old, newest]) await client.subscribe(uri)
  expect([depthOf(old), depthOf(newest)]).toEqual([three, 3])
  expect(choicesOf(old.state(uri)['config'])).toEqual(choices)
  const changed = { type: 'session/configChanged', config: { depth: one } }
  const { rejectionReason, action } = await old.echo(old.dispatch(uri, changed))
  expect(rejectionReason).toBeUndefined()
  expect(action).toMatchObject(changed)
  await newest.until(() => depthOf(newest) === 1)
  await newest.echo(newest.dispatch(uri, { type: 'session/configChanged', config: { depth: 2 } }))
  await old.until(() => depthOf(old) === two)
  const fresh = new OlderClient((await configured(version)).all, version, 'fresh')
  await expect(
    fresh.open().then(() => fresh.createSession(uri, { provider: 'mock', config: { depth: '4' } })),
  ).rejects.toMatchObject({ code: -32602 })
})
