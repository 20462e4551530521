import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileUri } from '@atrium/protocol/file-uri'
import { expect, onTestFinished, test } from 'vitest'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { testHost } from '../../../host/test/test-host.ts'
import type { TestHost } from '../../../host/test/test-host.ts'
import { OlderClient } from '../../../host/test/versions/older-client.ts'
import { manualTimers, scriptedAgent, temporaryFolder } from '../../test/acp.ts'
import type { ScriptedAgent, ScriptedOptions } from '../../test/acp.ts'
import { acpRoom, session, textOf } from '../../test/acp-room.ts'
import { until } from '../../test/shells.ts'
import { nodeFiles } from '../files/files.ts'

test('[N45.5] a slow start delays a new session only once and not for long, and a first turn starts no second process', async () => {
  const { later, pass, timers } = manualTimers()
  const { agent, lines, folder } = scriptedAgent({ quirks: ['opens-slowly', 'options'], later })
  const probed = agent.probe()
  await until(() => lines('started').length === 1 && [...timers].some(({ ms }) => ms === 120_000))
  pass(5000)
  await probed
  // The start goes on, and no timer runs for the next caller.
  const before = timers.size
  await agent.probe()
  expect([timers.size, agent.info.models]).toEqual([before, []])
  const turn = new HostlessChat(agent).begin('say hello').end()
  writeFileSync(join(folder, 'go'), '')
  expect(textOf(await turn)).toBe('hello')
  expect(lines('started')).toHaveLength(1)
  expect(agent.info.models).toHaveLength(2)
})

test('[N45.5] a start that fails while a first turn waits for it fails the turn, and is not tried twice', async () => {
  const { agent, lines } = scriptedAgent({ quirks: ['auth'] })
  const probing = agent.probe()
  const run = new HostlessChat(agent).begin('say hello')
  await Promise.all([probing, run.end()])
  expect(String(run.failure)).toContain('is not signed in')
  expect(lines('started')).toHaveLength(1)
})

test('[N45.3] the commands of an agent are offered before its first turn, and while its process sleeps', async () => {
  const room = await acpRoom({ quirks: ['early-commands'] })
  const names = async ({ agent }: typeof room.agent = room.agent) =>
    (await agent.commands(room.session)).map(({ name }) => name)
  await until(async () => (await names()).length > 0)
  expect(await names()).toEqual(['compact'])
  await room.turn('commands 2')
  expect(await names()).toEqual(['c0', 'c1'])
  room.agent.agent.release(session)
  expect(await names()).toEqual(['c0', 'c1'])
  // The next host knows them by the stored profile, without a start of the agent.
  const { profile } = room.agent.agent
  expect(await names(scriptedAgent({ ...(profile && { profile }) }))).toEqual(['c0', 'c1'])
  const elsewhere = { ...room.session, workingDirectories: ['file:///elsewhere'] }
  expect(await room.agent.agent.commands(elsewhere)).toMatchObject([{ name: 'c0' }, { name: 'c1' }])
})
const known = { knobs: [] }

async function hostOf(options: ScriptedOptions): Promise<{ all: TestHost; agent: ScriptedAgent }> {
  const agent = scriptedAgent(options)
  const all = await testHost({ agents: [agent.agent], machine: { files: nodeFiles() } })
  onTestFinished(() => all.host().close())
  return { all, agent }
}

test.each(['0.1.0', '0.6.0', '1.0.0'] as const)(
  '[N45.6] session channel, Lifecycle: at %s a session is `creating` until its agent has opened it, and then gets `session/ready`',
  async (version) => {
    const { all, agent } = await hostOf({ quirks: ['opens-slowly'], profile: known })
    const client = new OlderClient(all, version)
    await client.open()
    await client.createSession(session, {
      provider: 'mock',
      ...(version === '1.0.0'
        ? { workingDirectories: [fileUri(temporaryFolder())] }
        : { workingDirectory: fileUri(temporaryFolder()) }),
    })
    await client.subscribe(session)
    expect(client.state(session)['lifecycle']).toBe('creating')
    writeFileSync(join(agent.folder, 'go'), '')
    await client.until(() => client.state(session)['lifecycle'] === 'ready')
    expect(client.envelopes.map(({ action }) => action.type)).toContain('session/ready')
  },
)

test('[N45.6] the first turn uses the ACP session that the creation has opened', async () => {
  const room = await acpRoom({ profile: known })
  await room.ann.until(() => room.session.lifecycle === 'ready')
  expect(textOf(await room.turn('say hello'))).toBe('hello')
  expect(room.agent.lines('started')).toHaveLength(1)
  expect(room.agent.lines('ids')).toHaveLength(1)
})

test('[N45.6] [H7.1] an agent that refuses to open a session makes the session fail, at 0.1 and at 1.0', async () => {
  const { all } = await hostOf({ quirks: ['refuses'], profile: known })
  for (const version of ['0.1.0', '1.0.0'] as const) {
    const client = new OlderClient(all, version)
    const uri = `mock:/${version}`
    await client.open()
    await client.createSession(uri, { provider: 'mock' })
    await client.subscribe(uri)
    const failed = version === '0.1.0' ? 'creationFailed' : 'failed'
    await client.until(() => client.state(uri)['lifecycle'] === failed)
    expect(JSON.stringify(client.state(uri)['creationError'])).toContain('Scripted: no seats left')
  }
})

test('[N45.6] a refusal because nobody is signed in does not make the session fail', async () => {
  const room = await acpRoom({ quirks: ['auth'], profile: known })
  await room.ann.until(() => room.session.lifecycle === 'ready')
  expect(JSON.stringify(await room.turn('say hello'))).toContain('is not signed in')
})

test('[N45.6] a session that VS Code creates in advance starts no process before its first turn', async () => {
  const { all, agent } = await hostOf({ profile: known })
  const window = all.link()
  window.clientId = 'window'
  await window.ask('initialize', {
    channel: 'ahp-root://',
    protocolVersions: ['1.0.0'],
    clientId: 'window',
    clientInfo: { name: 'vscode-editor-window' },
  })
  await window.ask('createSession', { channel: session, workingDirectories: [fileUri(temporaryFolder())] })
  await window.ask('subscribe', { channel: session })
  await window.until(() => window.state(session)['lifecycle'] === 'ready')
  expect(agent.lines('started')).toEqual([])
  const other = await all.join('other')
  await other.ask('createSession', { channel: 'mock:/two' })
  await until(() => agent.lines('started').length === 1)
})

test('[N45.7] the process of an agent runs in the folder of its session', async () => {
  const room = await acpRoom()
  expect(textOf(await room.turn('cwd'))).toBe(room.folder)
})

test('[H7.11] state model, Lifecycle: a session in a folder that does not exist fails, and says what to do', async () => {
  const { all, agent } = await hostOf({ profile: known })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session, workingDirectories: ['file:///not/here'] })
  await ann.ask('subscribe', { channel: session })
  await ann.until(() => ann.state(session)['lifecycle'] === 'failed')
  expect(ann.state(session)['creationError']).toMatchObject({
    errorType: 'folder',
    message: expect.stringContaining('There is no folder /not/here. Create it'),
  })
  expect(agent.lines('started')).toEqual([])
})

test('[N45.5] settings that an agent tells after 5 seconds can be changed, and its models are listed', async () => {
  const { later, pass, timers } = manualTimers()
  const { all, agent } = await hostOf({ quirks: ['opens-slowly', 'options'], later })
  const ann = await all.join('ann', { subscribe: ['ahp-root://'] })
  const created = ann.ask('createSession', { channel: session, workingDirectories: [fileUri(agent.folder)] })
  await until(() => [...timers].some(({ ms }) => ms === 120_000))
  pass(5000)
  await created
  await ann.ask('subscribe', { channel: session })
  writeFileSync(join(agent.folder, 'go'), '')
  await ann.until(() => ann.state(session)['lifecycle'] === 'ready')
  expect(agent.lines('started')).toHaveLength(1)
  const agents = () =>
    ann.state('ahp-root://')['agents'] as readonly { readonly models: readonly unknown[] }[]
  await ann.until(() => agents()[0]?.models.length === 2)
  const { schema } = await ann.ask('resolveSessionConfig', { channel: 'ahp-root://', provider: 'mock' })
  const [key = '', property] = Object.entries(schema.properties).find(([, each]) => each.enum) ?? []
  const config = { [key]: property?.enum?.at(-1) }
  const { rejectionReason } = await ann.echo(ann.dispatch(session, { type: 'session/configChanged', config }))
  expect(rejectionReason).toBeUndefined()
  expect(ann.state(session)['config']).toMatchObject({ values: config })
})
