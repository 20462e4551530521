import { fileUri } from '@atrium/protocol/file-uri'
import type { RootState } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { agentFile, newPlace } from '../../../test/acp.ts'
import type { ScriptedOptions } from '../../../test/acp.ts'
import { acpRoom, chat, errorOf, notesOf, session, textOf } from '../../../test/acp-room.ts'
import type { AcpRoom } from '../../../test/acp-room.ts'
import { processesWith, uniqueSeconds } from '../../../test/processes.ts'
import { until } from '../../../test/shells.ts'
import { acpServers } from './mcp-servers.ts'
import type { ServerSettings } from './mcp-servers.ts'

const settings: ServerSettings = {
  tools: { command: '/opt/tools', args: ['-v'], env: { API_KEY: 'hush-hush' } },
  there: { url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer hush-too' } },
}
const given = (options: ScriptedOptions = {}, servers = settings): ScriptedOptions => ({
  ...options,
  means: { mcpServers: acpServers(servers) },
})
const tools = 'atrium:/mcp/tools'
const there = 'atrium:/mcp/there'
const other = 'ahp-chat:/other'

/** How the agent's sessions were opened, and the names of what each was given. */
const opened = ({ agent }: AcpRoom) =>
  agent.lines('opened').map((line) => {
    const { how, mcpServers } = JSON.parse(line) as { how: string; mcpServers: readonly { name: string }[] }
    return [how, ...mcpServers.map(({ name }) => name)].join(' ')
  })

const states = (all: AcpRoom) =>
  (all.session.customizations ?? []).map((each) => [each.name, each.type === 'mcpServer' && each.state.kind])

function toggle({ ann }: AcpRoom, id: string, enabled: boolean): void {
  const enablement = [{ kind: 'session', enabled }]
  ann.dispatch(session, { type: 'session/customizationToggled', id, enablement })
}

test('[N49] a session is given the servers of the config, as ACP says them, and everyone sees their names alone', async () => {
  const all = await acpRoom(given({ quirks: ['http'] }))
  expect(states(all)).toEqual([
    ['tools', 'stopped'],
    ['there', 'stopped'],
  ])
  await all.turn('say one')
  expect(JSON.parse(all.agent.lines('opened').at(-1) ?? '')).toMatchObject({
    how: 'new',
    mcpServers: [
      {
        name: 'tools',
        command: '/opt/tools',
        args: ['-v'],
        env: [{ name: 'API_KEY', value: 'hush-hush' }],
      },
      {
        type: 'http',
        name: 'there',
        url: 'https://tools.example/mcp',
        headers: [{ name: 'Authorization', value: 'Bearer hush-too' }],
      },
    ],
  })
  expect(states(all)).toEqual([
    ['tools', 'ready'],
    ['there', 'ready'],
  ])
  const { agents } = all.ann.state(rootUri) as unknown as RootState
  expect(agents[0]?.customizations).toMatchObject([{ id: tools }, { id: there }])
  expect(JSON.stringify([agents, all.session, all.chat, all.ann.envelopes])).not.toMatch(/hush|opt.tools/)
})

test('[N49] one that the agent has no way to talk to is kept from it, and says so', async () => {
  const all = await acpRoom(given())
  await all.turn('say one')
  expect(opened(all).at(-1)).toBe('new tools')
  expect(all.session.customizations).toMatchObject([
    { name: 'tools', state: { kind: 'ready' } },
    { name: 'there', state: { kind: 'error', error: { message: expect.stringContaining('by http') } } },
  ])
})

test.each([
  [[], 'load', []],
  [['resume'], 'resume', []],
  [['no-load'], 'new', [/handed a transcript/]],
] as const)(
  '[N49] what is switched counts from the next turn on, for an agent that is %j',
  async (quirks, how, notes) => {
    const all = await acpRoom(given({ quirks }, { tools: { command: 'x' }, more: { command: 'y' } }))
    await all.turn('say one')
    toggle(all, tools, false)
    const off = await all.turn('say two')
    expect(textOf(off)).toBe('two')
    // It may have kept what it was given once: so it begins anew.
    expect(notesOf(off)).toEqual([expect.stringMatching(/to go on without tools.*handed a transcript/)])
    expect(opened(all).slice(-2)).toEqual(['new tools more', 'new more'])
    expect(states(all)).toEqual([
      ['tools', 'stopped'],
      ['more', 'ready'],
    ])
    // Nothing has changed since: it is the same process still.
    const processes = all.agent.lines('started').length
    await all.turn('say three')
    expect(all.agent.lines('started')).toHaveLength(processes)
    toggle(all, tools, true)
    const on = await all.turn('say four')
    expect(opened(all).at(-1)).toBe(`${how} tools more`)
    expect(notesOf(on)).toEqual(notes.map((each) => expect.stringMatching(each)))
  },
)

test('[N49] what is switched off is off for an agent that was not there meanwhile, too', async () => {
  const before = await acpRoom(given({}, { tools: { command: 'x' } }))
  await before.turn('say one')
  toggle(before, tools, false)
  await before.ann.until(() => JSON.stringify(before.session.customizations).includes('false'))
  const all = await before.restarted('crash', given({}, { tools: { command: 'x' } }))
  const turn = await all.turn('say two')
  expect([opened(all).at(-1), textOf(turn)]).toEqual(['new', 'two'])
  expect(notesOf(turn)).toEqual([expect.stringContaining('without tools')])
})

test('[N49] what is switched while another chat is at work waits until the agent can be ended', async () => {
  const all = await acpRoom(given({}, { tools: { command: 'x' } }))
  await all.turn('say one')
  await all.ann.ask('createChat', { channel: session, chat: other })
  await all.ann.ask('subscribe', { channel: other })
  const working = all.begin('say at work\nhang', {}, other)
  await all.ann.until(() => JSON.stringify(all.ann.state(other)).includes('at work'))
  const processes = all.agent.lines('started').length
  toggle(all, tools, false)
  const turn = await all.turn('say two')
  expect([textOf(turn), all.agent.lines('started').length]).toEqual(['two', processes])
  expect(states(all)).toEqual([['tools', 'ready']])
  all.cancel(working, other)
  await all.ended(working, other)
  await all.turn('say three')
  expect(opened(all).at(-1)).toBe('new')
  expect(states(all)).toEqual([['tools', 'stopped']])
})

test('[N49] one that is kept from the agent anyway is switched without ending anything', async () => {
  const all = await acpRoom(given())
  await all.turn('say one')
  const processes = all.agent.lines('started').length
  for (const [on, shown] of [[false, 'stopped'] as const, [true, 'error'] as const]) {
    toggle(all, there, on)
    expect(notesOf(await all.turn('say two'))).toEqual([])
    expect(states(all)).toEqual([
      ['tools', 'ready'],
      ['there', shown],
    ])
  }
  expect(all.agent.lines('started')).toHaveLength(processes)
})

test('[N49] what a turn that was cancelled gave to the agent is off when it is switched off', async () => {
  const all = await acpRoom(given({}, { tools: { command: 'x' } }))
  toggle(all, tools, false)
  await all.turn('say one')
  toggle(all, tools, true)
  const cancelled = all.begin('say two')
  await until(() => opened(all).at(-1) === 'load tools')
  all.cancel(cancelled)
  await all.ended(cancelled)
  toggle(all, tools, false)
  await all.turn('say three')
  expect(opened(all).at(-1)).toBe('new')
})

test('[N49] a turn that is cancelled while its agent is started anew leaves nothing to those after it', async () => {
  const seconds = uniqueSeconds()
  // It takes long to end.
  const slow = { quirks: ['orphan'], env: { ACP_ORPHAN: seconds } }
  const all = await acpRoom(given(slow, { tools: { command: 'x' } }))
  await all.turn('say one')
  await until(() => processesWith(seconds).length > 0)
  const [orphans, agent] = [processesWith(seconds), Number(all.agent.lines('started').at(-1))]
  const before = opened(all).length
  toggle(all, tools, false)
  const cancelled = all.begin('say two')
  await until(() => !processesWith(agentFile).includes(agent))
  all.cancel(cancelled)
  await all.ended(cancelled)
  await all.turn('say three')
  await until(() => !orphans.some((pid) => processesWith(seconds).includes(pid)))
  for (const text of ['sleep 500\nsay four', 'say five']) await all.turn(text)
  expect(opened(all).slice(before)).toEqual(['new'])
})

test('[N49] a session keeps what was switched when its host has gone, and gets what the config has meanwhile', async () => {
  const before = await acpRoom(given({}, { tools: { command: 'x' } }))
  toggle(before, tools, false)
  await before.turn('say one')
  expect(opened(before).at(-1)).toBe('new')
  const all = await before.restarted('crash', given({}, { tools: { command: 'x' }, more: { command: 'y' } }))
  await all.turn('say two')
  expect(opened(all).at(-1)).toBe('load more')
  expect(states(all)).toEqual([
    ['tools', 'stopped'],
    ['more', 'ready'],
  ])
})

test('[N49] what a server is shown stands in no error of the agent', async () => {
  const all = await acpRoom(given())
  const turn = await all.turn('stderr it was shown hush-hush and Bearer hush-too\ncrash 3')
  expect(errorOf(turn)?.error.message).toContain('it was shown … and …')
})

test('[N49] nor does a part of it that is the secret', async () => {
  const servers = {
    here: {
      command: '/opt/tools',
      args: ['--api-key', 'hush-one', '--token=hush-two', '--root', '/data/all'],
    },
    there: {
      url: 'https://x.example/mcp?api_key=hush-three',
      headers: { Authorization: 'Bearer hush-four' },
    },
  }
  const all = await acpRoom(given({}, servers))
  const said = '/opt/tools hush-one hush-two /data/all https://x.example/mcp?api_key=hush-three hush-four'
  const turn = await all.turn(`stderr ${said}\ncrash 3`)
  expect(errorOf(turn)?.error.message).toContain('/opt/tools … … /data/all https://x.example/mcp?api_key=… …')
})

test('[N46] an agent whose chat works elsewhere by now is started there', async () => {
  const all = await acpRoom({ profile: { knobs: [], directories: true } })
  await all.turn('say one')
  const directory = fileUri(newPlace())
  all.ann.dispatch(session, { type: 'session/workingDirectorySet', directory })
  const processes = all.agent.lines('started').length
  await all.turn('say two')
  expect([opened(all).at(-1), all.agent.lines('started').length]).toEqual(['load', processes + 1])
  expect(chat).toBe(all.chat.resource)
})
