import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { FakeFiles } from '../../../../test/fake-files.ts'
import { ScriptedAgent, until } from '../../../../test/scripted-agent.ts'
import type { OlderClient, Value } from '../../../../test/versions/older-client.ts'
import {
  does,
  envelopesOf,
  expectInStep,
  fresh,
  isRefused,
  olderSession,
} from '../../../../test/versions/older-session.ts'
import type { OlderSession } from '../../../../test/versions/older-session.ts'

const version = '0.1.0'
const icons = [{ src: 'https://x.example/kit.svg', contentType: 'image/svg+xml' }]
const shown = { uri: 'https://plugins.example/lent', displayName: 'Lent', description: 'Rules', icons }
const lent = { ...shown, nonce: '7' }
const folder = '/w/.agents/plugins/kit'
const workspace = {
  [`${folder}/.plugin/plugin.json`]: '{"name":"kit"}',
  [`${folder}/skills/tidy/SKILL.md`]: '---\nname: tidy\n---\nBe tidy.',
}

function machineWith(content: { readonly [path: string]: string } = {}) {
  const files = new FakeFiles()
  for (const [path, text] of Object.entries(content)) files.put(path, text)
  return { files, customizations: { hash: (data: Uint8Array | string) => String(data) } }
}

const listOf = (client: OlderClient, session: string) =>
  (client.state(session)['customizations'] ?? []) as readonly Value[]
const entryOf = (client: OlderClient, session: string, uri: string) =>
  listOf(client, session).find(({ customization }) => (customization as Value)['uri'] === uri)
const claims = (clientId: string, customizations: readonly Value[]) => ({
  type: 'session/activeClientChanged',
  activeClient: { clientId, displayName: clientId, tools: [], customizations },
})

test('[R002-1 R002-2 R002-3 R002-5 R002-6] an agent declares plugins, of which clients see identity and description; a new session has them with their state', async () => {
  const kit = {
    type: 'plugin' as const,
    id: 'kit',
    uri: 'https://x.example/kit',
    name: 'Kit',
    enabled: true,
    icons,
    nonce: '42',
    _meta: { description: 'Skills and rules' },
  }
  const bare = { type: 'plugin' as const, id: 'bare', uri: 'market:bare', name: 'Bare', enabled: false }
  const agent = new ScriptedAgent({ customizations: [kit, bare] })
  const all = await olderSession(version, { agent })
  const { ann, ben, session } = all
  const references = [
    { uri: kit.uri, displayName: 'Kit', description: 'Skills and rules', icons, nonce: '42' },
    { uri: bare.uri, displayName: 'Bare' },
  ]
  expect(ann.state(ann.root)['agents']).toMatchObject([{ customizations: references }])
  expect((await fresh(all, session))['customizations']).toEqual([
    { customization: references[0], enabled: true },
    { customization: references[1], enabled: false },
  ])
  // The URI is what a toggle names, and what the entry is found by.
  await does(ann, session, { type: 'session/customizationToggled', uri: bare.uri, enabled: true })
  await ben.until(() => entryOf(ben, session, bare.uri)?.['enabled'] === true)
  expect(listOf(ben, session)).toHaveLength(2)
  await expectInStep(all)
})

/** A session in which Ann is active and has lent a plugin. */
async function withLent(): Promise<OlderSession> {
  const all = await olderSession(version, { machine: machineWith() })
  const { ann, ben, session } = all
  await does(ann, session, claims('ann', [lent]))
  for (const client of [ann, ben])
    await client.until(() => entryOf(client, session, lent.uri)?.['statusMessage'] !== undefined)
  return all
}

test('[R002-4 R002-13 R002-15] the active client gives references to its plugins; the session lists them with their client', async () => {
  const { ben, session } = await withLent()
  expect(ben.state(session)['activeClient']).toMatchObject({ clientId: 'ann', customizations: [lent] })
  expect(entryOf(ben, session, lent.uri)).toMatchObject({
    customization: shown,
    clientId: 'ann',
    enabled: true,
  })
})

test('[R002-16] when another client takes its place, its customizations are gone, also from the list', async () => {
  const all = await withLent()
  const { ann, ben, session } = all
  const other = { uri: 'https://plugins.example/other', displayName: 'Other' }
  await isRefused(ben, session, claims('ben', [other]))
  await does(ann, session, { type: 'session/activeClientChanged', activeClient: null })
  await does(ben, session, claims('ben', [other]))
  await ann.until(() => entryOf(ann, session, lent.uri) === undefined)
  for (const client of [ann, ben]) {
    await client.until(() => entryOf(client, session, other.uri) !== undefined)
    expect(client.state(session)['activeClient']).toMatchObject({ clientId: 'ben', customizations: [other] })
    expect(entryOf(client, session, lent.uri)).toBeUndefined()
  }
})

test('[R002-16] when it leaves, or gives the place up, its customizations are gone, also from the list', async () => {
  for (const how of ['leaves', 'gives up'] as const) {
    const all = await withLent()
    const { ann, ben, session } = all
    if (how === 'leaves') {
      ann.unplug()
      await until(() => !all.core().clients.links.has('ann'))
      all.world.advance(limits.toolGraceMs)
    } else await does(ann, session, { type: 'session/activeClientChanged', activeClient: null })
    await ben.until(
      () => !ben.state(session)['activeClient'] && entryOf(ben, session, lent.uri) === undefined,
    )
    const state = await fresh(all, session)
    expect(JSON.stringify([state['activeClient'], state['customizations']])).not.toContain('plugins.example')
  }
})

test('[R002-12 R002-17 R002-18 R002-19] the host finds the plugins of the workspace, offers them in the settings, loads them, and publishes them without a client', async () => {
  const params = { workingDirectory: 'file:///w' }
  const all = await olderSession(version, { machine: machineWith(workspace), params })
  const { ann, ben, session } = all
  const { schema } = await ann.ask('resolveSessionConfig', { provider: 'mock', ...params })
  const { properties } = schema as { readonly properties: { readonly [key: string]: Value } }
  expect(properties['atrium.customizations']).toMatchObject({
    type: 'array',
    items: { type: 'string', enumLabels: ['kit'] },
  })
  const uri = `file://${folder}`
  await ben.until(() => entryOf(ben, session, uri)?.['status'] === 'loaded')
  expect(entryOf(ben, session, uri)).toEqual({
    customization: { uri, displayName: 'kit' },
    enabled: true,
    status: 'loaded',
  })
  for (const { action } of envelopesOf(ben, 'session/customizationsChanged'))
    expect(action).toMatchObject({ session, customizations: expect.any(Array) })
  expect(envelopesOf(ben, 'session/customizationUpdated')).toEqual([])
  expect((await fresh(all, session))['customizations']).toEqual(listOf(ben, session))
})
