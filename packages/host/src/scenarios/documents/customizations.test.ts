import { customizationsOf } from '../../catalog/customizing.ts'
import type { Action } from '@atrium/protocol/channel'
import { describe, expect, test } from 'vitest'
import { FakeFiles } from '../../../test/fake-files.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

const plugin = 'file:///w/.agents/plugins/kit'
const folder = '/w/.agents/plugins/kit'
const session = 'mock:/one'
const manifest = { [`${folder}/.plugin/plugin.json`]: '{"name":"kit"}' }
const skill = { [`${folder}/skills/tidy/SKILL.md`]: '---\nname: tidy\n---\nBe tidy.' }
const broken = { [`${folder}/hooks/hooks.json`]: '{' }

describe('[R002-7 R002-8 R002-9 R002-10 R002-11 R002-12] [H17] customizations, Loading Status: a client of 0.1 sees each status of a plugin', () => {
  const rows: readonly (readonly [status: string, content: object, message: RegExp | undefined])[] = [
    ['loading', { ...manifest, ...skill }, undefined],
    ['loaded', { ...manifest, ...skill }, undefined],
    ['degraded', { ...manifest, ...skill, ...broken }, /hooks\.json/],
    ['error', { ...manifest, ...broken }, /hooks\.json/],
  ]
  test.each(rows)('%s', async (status, content, message) => {
    const { old, entry } = await opened(content)
    const seen = () =>
      old.envelopes.flatMap(({ action }) => {
        const list = (action['customizations'] ?? []) as readonly Value[]
        return list.filter(isKit)
      })
    await old.until(() => [entry(), ...seen()].some((each) => each?.['status'] === status))
    const shown = [entry(), ...seen()].find((each) => each?.['status'] === status)
    const customization = { uri: plugin, displayName: 'kit' }
    expect(shown).toMatchObject({ customization, enabled: true, status })
    const { statusMessage } = shown ?? {}
    if (message) expect(statusMessage).toMatch(message)
    else expect(statusMessage).toBeUndefined()
  })
})

describe('[R002-52 R002-53 R002-54 R002-55 R002-56 R004-35 R004-36] [H17] customizations, Actions Summary: which actions a client of 0.1 may dispatch', () => {
  const kit = { uri: plugin, displayName: 'kit' }
  const activeClient = { clientId: 'at 0.1.0', displayName: 'old', tools: [{ name: 'lint' }] }
  const call = { turnId: 't', toolCallId: 'c' }
  const rows: readonly (readonly [type: string, action: Value, outcome: 'accepted' | 'host' | 'no call'])[] =
    [
      ['session/customizationsChanged', { customizations: [] }, 'host'],
      ['session/customizationToggled', { uri: plugin, enabled: false }, 'accepted'],
      ['session/customizationUpdated', { customization: kit, enabled: true }, 'host'],
      ['session/activeClientChanged', { activeClient }, 'accepted'],
      ['session/activeClientChanged', { activeClient: null }, 'accepted'],
      ['session/activeClientToolsChanged', { tools: [] }, 'accepted'],
      ['session/toolCallStart', { ...call, toolName: 'lint', displayName: 'Lint' }, 'host'],
      ['session/toolCallComplete', { ...call, result: { success: true, pastTenseMessage: 'x' } }, 'no call'],
      ['session/toolCallContentChanged', { ...call, content: [] }, 'no call'],
    ]
  test.each(rows)('%s', async (type, members, outcome) => {
    const { old, entry } = await opened({ ...manifest, ...skill })
    await old.until(() => entry()?.['status'] === 'loaded')
    if (type === 'session/activeClientToolsChanged' || members['activeClient'] === null)
      await old.echo(old.dispatch(session, { type: 'session/activeClientChanged', activeClient } as Action))
    const before = old.state(session)
    // The action has the members of its type.
    const { rejectionReason } = await old.echo(old.dispatch(session, { type, ...members } as Action & Value))
    if (outcome === 'accepted') {
      expect(rejectionReason).toBeUndefined()
      expect(old.state(session)).not.toEqual(before)
    }
    if (outcome === 'host') expect(rejectionReason).toMatch(/dispatched by the host|customizationUpdated/)
    if (outcome === 'no call') expect(rejectionReason).toMatch(/turn|call/)
    if (outcome !== 'accepted') expect(old.state(session)).toEqual(before)
  })

  test('[R002-20 R002-21 R002-22 R004-48] a plugin that was switched off by its uri is off for every client', async () => {
    const { all, ann, old, entry } = await opened({ ...manifest, ...skill })
    await old.until(() => entry()?.['status'] === 'loaded')
    const toggle = { type: 'session/customizationToggled', uri: plugin, enabled: false }
    await old.echo(old.dispatch(session, toggle))
    await ann.until(() => JSON.stringify(ann.state('ahp-session:/one')).includes('"enabled":false'))
    expect(entry()).toMatchObject({ enabled: false })
    expect(await customizationsOf(all.core())?.components('ahp-session:/one')).toEqual([])
  })
})

/** A client of 0.1 in a session whose folder has these files. */
async function opened(content: object) {
  const files = new FakeFiles()
  for (const [path, text] of Object.entries(content)) files.put(path, String(text))
  const customizations = { hash: (data: Uint8Array | string) => String(data) }
  const all = await testHost({ machine: { files, customizations }, agents: [new ScriptedAgent()] })
  const old = new OlderClient(all, '0.1.0')
  await old.open()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: 'ahp-session:/one', workingDirectories: ['file:///w'] })
  await ann.ask('subscribe', { channel: 'ahp-session:/one' })
  await old.subscribe(session)
  const entry = () => ((old.state(session)['customizations'] ?? []) as readonly Value[]).find(isKit)
  return { all, ann, old, entry }
}

function isKit({ customization }: Value): boolean {
  return (customization as { readonly uri?: string } | undefined)?.uri === plugin
}

test('[H17.4] [V20.1] a plugin of a client of 0.1, which nobody can read, is shown with the reason', async () => {
  const { old } = await opened({})
  const lent = { uri: 'https://plugins.example/lent', displayName: 'Lent' }
  const activeClient = { clientId: 'at 0.1.0', displayName: 'old', tools: [], customizations: [lent] }
  await old.echo(
    old.dispatch(session, { type: 'session/activeClientChanged', activeClient } as Action & Value),
  )
  const entry = () => {
    const list = (old.state(session)['customizations'] ?? []) as readonly {
      readonly customization?: object
    }[]
    return list.find(({ customization }) => JSON.stringify(customization).includes('plugins.example'))
  }
  await old.until(() => JSON.stringify(entry() ?? {}).includes('statusMessage'))
  expect(entry()).toMatchObject({
    customization: lent,
    status: 'error',
    statusMessage: expect.stringContaining('The client gives no files to the host'),
  })
})
