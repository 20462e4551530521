import { customizationsOf } from '../../catalog/customizing.ts'
import type { Customization } from '@atrium/protocol/session/customization'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { limits } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { withinLength } from './entry.ts'
import { FakeFiles } from '../../../test/fake-files.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client, TestHost } from '../../../test/test-host.ts'

const session = 'ahp-session:/1'
const plugin = 'file:///w/.agents/plugins/kit'
const manifest = '/w/.agents/plugins/kit/.plugin/plugin.json'
const skill = '/w/.agents/plugins/kit/skills/tidy/SKILL.md'
const hooks = '/w/.agents/plugins/kit/hooks/hooks.json'
const hook = (command: string) =>
  JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })

test('[H17] the plugins of a session’s folder are read, and their parts are shown with their load state', async () => {
  const { list, ann } = await opened({
    [manifest]: '{"name":"kit"}',
    [skill]: '---\nname: tidy\n---\nBe tidy.',
  })
  await until(() => find(list(), plugin)?.load?.kind === 'loaded')
  expect(find(list(), plugin)).toMatchObject({
    type: 'plugin',
    name: 'kit',
    children: [{ type: 'skill', name: 'tidy' }],
  })
  // The client sees the plugin before it is read.
  const loads = ann.envelopes.flatMap(({ action }) => loadIn(action, plugin))
  expect(loads).toEqual(['loading', 'loaded'])
})

test('[H17] a part that cannot be read degrades its plugin, and the others work', async () => {
  const { list } = await opened({
    [manifest]: '{"name":"kit"}',
    [skill]: '---\nname: tidy\n---\nBe tidy.',
    [hooks]: '{',
  })
  await until(() => find(list(), plugin)?.load?.kind === 'degraded')
  expect(find(list(), plugin)?.children).toMatchObject([{ type: 'skill', name: 'tidy' }])
})

test('[H17.3] a program of a folder runs only after a user has enabled it, and after a change only if enabled again', async () => {
  const { all, list, files, ann, toggle } = await opened({
    [manifest]: '{"name":"kit"}',
    [hooks]: hook('make a'),
  })
  await until(() => find(list(), plugin)?.load?.kind === 'degraded')
  expect(find(list(), plugin)).toMatchObject({
    load: { message: 'To allow these programs, enable this customization: Stop: make a' },
    _meta: { 'x-atrium': { programs: { lines: ['Stop: make a'] } } },
  })
  await toggle(ann, plugin, true)
  await until(() => find(list(), plugin)?.load?.kind === 'loaded')
  await all.restart('crash')
  files.put(hooks, hook('make b'))
  const ben = await joined(all)
  const activeClient = { clientId: 'ben', tools: [] }
  await ben.echo(ben.dispatch(session, { type: 'session/activeClientSet', activeClient }))
  await until(() => find(listOf(ben), plugin)?.load?.kind === 'degraded')
  expect(find(listOf(ben), plugin)).toMatchObject({
    load: { message: expect.stringMatching(/have changed.*\n- Stop: make a\n\+ Stop: make b/s) },
  })
  expect(find(listOf(ben), plugin)?.enablement).toBeUndefined()
})

test('[H17.2] a decision for a folder or for all sessions holds in other sessions, and the most specific one wins', async () => {
  const { all, list, ann } = await opened({
    [manifest]: '{"name":"kit"}',
    [skill]: '---\nname: tidy\n---\nBe tidy.',
  })
  await until(() => find(list(), plugin)?.load?.kind === 'loaded')
  const enablement = [
    { kind: 'workspace', uri: 'file:///w', enabled: false },
    { kind: 'global', enabled: true },
  ]
  await ann.echo(ann.dispatch(session, { type: 'session/customizationToggled', id: plugin, enablement }))
  await ann.ask('createSession', { channel: 'ahp-session:/2', workingDirectories: ['file:///w'] })
  await ann.ask('subscribe', { channel: 'ahp-session:/2' })
  const other = () => listOf(ann, 'ahp-session:/2')
  await until(() => find(other(), plugin)?.load?.kind === 'loaded')
  expect(find(other(), plugin)?.enablement).toEqual(enablement)
  await all.restart('crash')
  const ben = await joined(all)
  expect(find(listOf(ben), plugin)?.enablement).toEqual(enablement)
})

test('[H17.1] a plugin in the settings of the host is in every session', async () => {
  const { list, ann, files } = await opened({})
  files.put('/opt/own/.plugin/plugin.json', '{"name":"own"}')
  files.put('/opt/own/skills/a/SKILL.md', '---\nname: a\n---\nA.')
  const set = (plugins: unknown) =>
    ann.echo(ann.dispatch(rootUri, { type: 'root/configChanged', config: { 'atrium.plugins': plugins } }))
  await set(['/opt/own'])
  await until(() => find(list(), 'file:///opt/own')?.load?.kind === 'loaded')
  // Clients see it with the agents, before they create a session.
  const agents = () => (ann.state(rootUri) as unknown as RootState).agents
  await until(() => find(agents()[0]?.customizations ?? [], 'file:///opt/own')?.load?.kind === 'loaded')
  await set([])
  await until(() => find(list(), 'file:///opt/own') === undefined)
  await until(() => (agents()[0]?.customizations ?? []).length === 0)
  expect((await set(['relative'])).rejectionReason).toMatch(/is not an absolute path/)
})

test('[H17.6] the plugins of a session are chosen before it exists', async () => {
  const { ann, list } = await opened({
    [manifest]: '{"name":"kit"}',
    [skill]: '---\nname: tidy\n---\nBe tidy.',
  })
  await until(() => find(list(), plugin)?.load?.kind === 'loaded')
  const where = { provider: 'mock', workingDirectory: 'file:///w' }
  const { schema, values } = await ann.ask('resolveSessionConfig', where)
  expect(schema.properties['atrium.customizations']?.items).toMatchObject({
    enum: [plugin],
    enumLabels: ['kit'],
  })
  expect(values).toMatchObject({ 'atrium.customizations': [plugin] })
  const config = { 'atrium.customizations': [] }
  await ann.ask('createSession', { channel: 'ahp-session:/3', workingDirectories: ['file:///w'], config })
  await ann.ask('subscribe', { channel: 'ahp-session:/3' })
  await until(() => find(listOf(ann, 'ahp-session:/3'), plugin)?.load?.kind === 'loaded')
  expect(find(listOf(ann, 'ahp-session:/3'), plugin)?.enablement).toEqual([
    { kind: 'session', enabled: false },
  ])
})

test('[H17.5] commands and skills complete `/`, and a message that begins with one stands for its text', async () => {
  const { all, ann, list, agent } = await opened({
    [manifest]: '{"name":"kit"}',
    [skill]: '---\nname: tidy\n---\nBe tidy.',
    '/w/.agents/plugins/kit/commands/plan.md': 'Plan $ARGUMENTS.',
  })
  await until(() => find(list(), plugin)?.load?.kind === 'loaded')
  const chat = defaultChatUri(session)
  await ann.ask('subscribe', { channel: chat })
  const { items } = await ann.ask('completions', { kind: 'userMessage', channel: chat, text: '/', offset: 1 })
  expect(items.map(({ insertText }) => insertText)).toEqual(['/plan', '/tidy'])
  for (const [at, [text, prompt]] of [
    ['/plan the day', 'Plan the day.'],
    ['/tidy', 'Be tidy.'],
    ['and /tidy', undefined],
  ].entries()) {
    const message = { text, origin: { kind: 'user' } }
    const startedAt = '2026-01-01T00:00:00.000Z'
    await ann.echo(
      ann.dispatch(chat, { type: 'chat/turnStarted', turnId: `t${at}`, startedAt, message } as never),
    )
    const run = await agent.given(at)
    expect((await run.chat.customized()).prompt).toBe(prompt)
    run.end()
    await until(() => all.core().log.channel(chat, 'chat')?.committed?.activeTurn === undefined)
  }
})

test('[S-57 customizationsLength] at 4,194,304 characters everything is shown, and [S-57 customizationsLength] past 4,194,304 the parts of the last are left out', async () => {
  expect(limits.customizationsLength).toBe(4_194_304)
  const entry = (id: string) => ({
    type: 'plugin' as const,
    id,
    uri: id,
    name: id,
    children: [{ type: 'skill' as const, id: `${id}/s`, uri: id, name: 's' }],
  })
  const list = [entry('a'), entry('b')]
  const length = JSON.stringify(list[0]).length * 2
  expect(withinLength(list, length)).toEqual(list)
  const [first, second] = withinLength(list, length - 1)
  expect(first).toEqual(list[0])
  expect(second).toMatchObject({
    id: 'b',
    load: { kind: 'error', message: expect.stringMatching(/^Its parts/) },
  })
  expect(second).not.toHaveProperty('children')
})

test('[S-57 customizationsLength] a session with more leaves out a plugin, and agents do not get it', async () => {
  const { all, list } = await opened(
    { [manifest]: '{"name":"kit"}', [skill]: '---\nname: tidy\n---\nBe tidy.' },
    { customizationsLength: 100 },
  )
  await until(() => find(list(), plugin)?.load?.kind === 'error')
  expect(await customizationsOf(all.core())?.components(session)).toEqual([])
})

test('[S-57 plugins] at 256 plugins the settings are accepted, and [S-57 plugins] past 256 refused', async () => {
  const { ann } = await opened({})
  const set = (count: number) => {
    const plugins = Array.from({ length: count }, (_, at) => `/p/${at}`)
    return ann.echo(
      ann.dispatch(rootUri, { type: 'root/configChanged', config: { 'atrium.plugins': plugins } }),
    )
  }
  expect((await set(257)).rejectionReason).toBe('there are at most 256 plugins')
  expect((await set(256)).rejectionReason).toBeUndefined()
})

async function opened(content: { readonly [path: string]: string }, given: Partial<LimitValues> = {}) {
  const files = new FakeFiles()
  for (const [path, text] of Object.entries(content)) files.put(path, text)
  const customizations = { hash: (data: Uint8Array | string) => String(data) }
  const agent = new ScriptedAgent()
  const all = await testHost({
    machine: { files, customizations },
    agents: [agent],
    limits: given,
  })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  await ann.ask('createSession', { channel: session, workingDirectories: ['file:///w'] })
  await ann.ask('subscribe', { channel: session })
  const toggle = (client: Client, id: string, enabled: boolean) =>
    client.echo(
      client.dispatch(session, {
        type: 'session/customizationToggled',
        id,
        enablement: [{ kind: 'session', enabled }],
      }),
    )
  return { all, ann, agent, files, toggle, list: () => listOf(ann) }
}

async function joined(all: TestHost): Promise<Client> {
  const ben = await all.join('ben', { subscribe: [rootUri] })
  await ben.ask('subscribe', { channel: session })
  return ben
}

function listOf(client: Client, uri = session): readonly Customization[] {
  // The channel is that of a session.
  return (client.state(uri) as unknown as SessionState).customizations ?? []
}

/** A plugin of a list, by its id. */
function find(list: readonly Customization[], id: string) {
  const found = list.find((each) => each.id === id)
  return found?.type === 'plugin' ? found : undefined
}

function loadIn(action: object, id: string): readonly string[] {
  const changed =
    'customization' in action
      ? [action.customization]
      : 'customizations' in action
        ? action.customizations
        : []
  // These members of actions are customizations.
  const found = (changed as readonly Customization[]).find((each) => each.id === id)
  return found && 'load' in found && found.load ? [found.load.kind] : []
}
