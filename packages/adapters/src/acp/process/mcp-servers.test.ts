import { fileUri } from '@atrium/protocol/file-uri'
import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { agentFile, temporaryFolder } from '../../../test/acp.ts'
import type { ScriptedOptions } from '../../../test/acp.ts'
import { acpRoom, chat, errorOf, noticesOf, session, textOf } from '../../../test/acp-room.ts'
import type { AcpRoom } from '../../../test/acp-room.ts'
import { processesWith, uniqueSeconds } from '../../../test/processes.ts'
import { until } from '../../../test/shells.ts'
import { acpServers } from './mcp-servers.ts'
import type { ServerSettings } from './mcp-servers.ts'

const settings: ServerSettings = {
  tools: { command: '/opt/tools', args: ['-v'], env: { API_KEY: 'hush-hush' } },
  there: { url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer hush-too' } },
}
/** Adds MCP servers to the options of the scripted agent. */
const withServers = (options: ScriptedOptions = {}, servers = settings): ScriptedOptions => ({
  ...options,
  context: { mcpServers: acpServers(servers) },
})
const toolsUri = 'atrium:/mcp/tools'
const thereUri = 'atrium:/mcp/there'
const otherChat = 'ahp-chat:/other'

interface OpenRecord {
  readonly how: string
  readonly mcpServers: readonly { readonly name: string }[]
}

/** Returns one text for each ACP session: how it was opened, and the names of its servers, for example `new tools more`. */
const opened = ({ agent }: AcpRoom) =>
  agent.lines('opened').map((line) => {
    const { how, mcpServers }: OpenRecord = JSON.parse(line)
    return [how, ...mcpServers.map(({ name }) => name)].join(' ')
  })

const states = (room: AcpRoom) =>
  (room.session.customizations ?? []).map((each) => [each.name, each.type === 'mcpServer' && each.state.kind])

function toggle({ ann }: AcpRoom, id: string, enabled: boolean): void {
  const enablement = [{ kind: 'session', enabled }]
  ann.dispatch(session, { type: 'session/customizationToggled', id, enablement })
}

test('[N49.1] [N49.3] [N49] a session is given the servers of the config, and clients see only their names', async () => {
  const room = await acpRoom(withServers({ quirks: ['http'] }))
  expect(states(room)).toEqual([
    ['tools', 'stopped'],
    ['there', 'stopped'],
  ])
  await room.turn('say one')
  expect(JSON.parse(room.agent.lines('opened').at(-1) ?? '')).toMatchObject({
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
  expect(states(room)).toEqual([
    ['tools', 'ready'],
    ['there', 'ready'],
  ])
  const { agents } = room.ann.state(rootUri)
  expect(agents).toMatchObject([{ customizations: [{ id: toolsUri }, { id: thereUri }] }])
  expect(JSON.stringify([agents, room.session, room.chat, room.ann.envelopes])).not.toMatch(/hush|opt.tools/)
})

test('[N49.1] [N49] a server that the agent does not support is not given to it, and shows the reason', async () => {
  const room = await acpRoom(withServers())
  await room.turn('say one')
  expect(opened(room).at(-1)).toBe('new tools')
  expect(room.session.customizations).toMatchObject([
    { name: 'tools', state: { kind: 'ready' } },
    { name: 'there', state: { kind: 'error', error: { message: expect.stringContaining('over http') } } },
  ])
})

test.each([
  [[], 'load', []],
  [['resume'], 'resume', []],
  [['no-load'], 'new', [/given a transcript/]],
] as const)(
  '[N49.2] [N49] a switched server counts from the next turn, for an agent with the quirks %j',
  async (quirks, how, notices) => {
    const room = await acpRoom(withServers({ quirks }, { tools: { command: 'x' }, more: { command: 'y' } }))
    await room.turn('say one')
    toggle(room, toolsUri, false)
    const off = await room.turn('say two')
    expect(textOf(off)).toBe('two')
    // The chat continues in a new ACP session, because the agent may keep the servers of the old session.
    expect(noticesOf(off)).toEqual([
      expect.stringMatching(/it had the MCP servers tools, which it gets no more.*given a transcript/),
    ])
    expect(opened(room).slice(-2)).toEqual(['new tools more', 'new more'])
    expect(states(room)).toEqual([
      ['tools', 'stopped'],
      ['more', 'ready'],
    ])
    // The next turn has the same servers, so the process is not restarted.
    const processes = room.agent.lines('started').length
    await room.turn('say three')
    expect(room.agent.lines('started')).toHaveLength(processes)
    toggle(room, toolsUri, true)
    const on = await room.turn('say four')
    expect(opened(room).at(-1)).toBe(`${how} tools more`)
    expect(noticesOf(on)).toEqual(notices.map((each) => expect.stringMatching(each)))
  },
)

test('[N49] a server that is switched off before a crash of the host is off afterwards', async () => {
  const before = await acpRoom(withServers({}, { tools: { command: 'x' } }))
  await before.turn('say one')
  toggle(before, toolsUri, false)
  await before.ann.until(() => JSON.stringify(before.session.customizations).includes('false'))
  const room = await before.restart('crash', withServers({}, { tools: { command: 'x' } }))
  const turn = await room.turn('say two')
  expect([opened(room).at(-1), textOf(turn)]).toEqual(['new', 'two'])
  expect(noticesOf(turn)).toEqual([
    expect.stringContaining('it had the MCP servers tools, which it gets no more'),
  ])
})

test('[N49.2] [N49] a switch while another chat is working takes effect in a later turn', async () => {
  const room = await acpRoom(withServers({}, { tools: { command: 'x' } }))
  await room.turn('say one')
  await room.ann.ask('createChat', { channel: session, chat: otherChat })
  await room.ann.ask('subscribe', { channel: otherChat })
  const working = room.begin('say at work\nhang', {}, otherChat)
  await room.ann.until(() => JSON.stringify(room.ann.state(otherChat)).includes('at work'))
  const processes = room.agent.lines('started').length
  toggle(room, toolsUri, false)
  const turn = await room.turn('say two')
  expect([textOf(turn), room.agent.lines('started').length]).toEqual(['two', processes])
  expect(states(room)).toEqual([['tools', 'ready']])
  room.cancel(working, otherChat)
  await room.ended(working, otherChat)
  await room.turn('say three')
  expect(opened(room).at(-1)).toBe('new')
  expect(states(room)).toEqual([['tools', 'stopped']])
})

test('[N49] a switch of an unsupported server ends no process', async () => {
  const room = await acpRoom(withServers())
  await room.turn('say one')
  const processes = room.agent.lines('started').length
  for (const [enabled, state] of [[false, 'stopped'] as const, [true, 'error'] as const]) {
    toggle(room, thereUri, enabled)
    expect(noticesOf(await room.turn('say two'))).toEqual([])
    expect(states(room)).toEqual([
      ['tools', 'ready'],
      ['there', state],
    ])
  }
  expect(room.agent.lines('started')).toHaveLength(processes)
})

test('[N49] a server that a cancelled turn gave to the agent is off when it is switched off', async () => {
  const room = await acpRoom(withServers({}, { tools: { command: 'x' } }))
  toggle(room, toolsUri, false)
  await room.turn('say one')
  toggle(room, toolsUri, true)
  const cancelled = room.begin('say two')
  await until(() => opened(room).at(-1) === 'load tools')
  room.cancel(cancelled)
  await room.ended(cancelled)
  toggle(room, toolsUri, false)
  await room.turn('say three')
  expect(opened(room).at(-1)).toBe('new')
})

test('[N49] a turn that is cancelled during the restart of its agent leaves no second ACP session', async () => {
  const seconds = uniqueSeconds()
  // An agent with the quirk `orphan` takes long to end.
  const slow = { quirks: ['orphan'], env: { ACP_ORPHAN: seconds } }
  const room = await acpRoom(withServers(slow, { tools: { command: 'x' } }))
  await room.turn('say one')
  await until(() => processesWith(seconds).length > 0)
  const [orphans, agent] = [processesWith(seconds), Number(room.agent.lines('started').at(-1))]
  const before = opened(room).length
  toggle(room, toolsUri, false)
  const cancelled = room.begin('say two')
  await until(() => !processesWith(agentFile).includes(agent))
  room.cancel(cancelled)
  await room.ended(cancelled)
  await room.turn('say three')
  await until(() => !orphans.some((pid) => processesWith(seconds).includes(pid)))
  for (const text of ['sleep 500\nsay four', 'say five']) await room.turn(text)
  expect(opened(room).slice(before)).toEqual(['new'])
})

test('[N49] after a crash of the host a switched server stays off, and new servers of the config are given', async () => {
  const before = await acpRoom(withServers({}, { tools: { command: 'x' } }))
  toggle(before, toolsUri, false)
  await before.turn('say one')
  expect(opened(before).at(-1)).toBe('new')
  const room = await before.restart(
    'crash',
    withServers({}, { tools: { command: 'x' }, more: { command: 'y' } }),
  )
  await room.turn('say two')
  expect(opened(room).at(-1)).toBe('load more')
  expect(states(room)).toEqual([
    ['tools', 'stopped'],
    ['more', 'ready'],
  ])
})

test('[N49.3] [N49] values that a server is given are redacted in errors of the agent', async () => {
  const room = await acpRoom(withServers())
  const turn = await room.turn('stderr it was shown hush-hush and Bearer hush-too\ncrash 3')
  expect(errorOf(turn)?.error.message).toContain('it was shown … and …')
})

test('[N49.3] [N49] a secret that is a part of an argument, URL or header is redacted too', async () => {
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
  const room = await acpRoom(withServers({}, servers))
  const printed = '/opt/tools hush-one hush-two /data/all https://x.example/mcp?api_key=hush-three hush-four'
  const turn = await room.turn(`stderr ${printed}\ncrash 3`)
  expect(errorOf(turn)?.error.message).toContain('/opt/tools … … /data/all https://x.example/mcp?api_key=… …')
})

test('[N46.1] [N46] an agent whose chat has other directories is restarted with them', async () => {
  const room = await acpRoom({ profile: { knobs: [], directories: true } })
  await room.turn('say one')
  const directory = fileUri(temporaryFolder())
  room.ann.dispatch(session, { type: 'session/workingDirectorySet', directory })
  const processes = room.agent.lines('started').length
  await room.turn('say two')
  expect([opened(room).at(-1), room.agent.lines('started').length]).toEqual(['load', processes + 1])
  expect(chat).toBe(room.chat.resource)
})
