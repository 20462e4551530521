import type { McpServerCustomization } from '@atrium/protocol/session/customization'
import { expect, test } from 'vitest'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import {
  accepted,
  chat,
  refused,
  twoClientSession,
  sessionOf,
  started,
  turn,
} from '../../../test/two-client-session.ts'

const server = (name: string): McpServerCustomization => ({
  type: 'mcpServer',
  id: name,
  uri: `x:/${name}`,
  name,
  state: { kind: 'stopped' },
})
const off = {
  type: 'session/customizationToggled',
  id: 'a',
  enablement: [{ kind: 'session', enabled: false }],
}
const ready = { kind: 'ready' } as const

test('[H15] a new session has the customizations of its agent', async () => {
  const all = await twoClientSession(new ScriptedAgent({ customizations: [server('a'), server('b')] }))
  expect(sessionOf(all).customizations).toEqual([server('a'), server('b')])
})

test("[H15.1] [H15] changes of the agent's customizations arrive with the next turn; their state and the users' choices stay", async () => {
  const folder = {
    type: 'directory',
    id: 'd',
    uri: 'x:/d',
    name: 'D',
    enabled: true,
    contents: 'rule',
    writable: false,
  } as const
  const all = await twoClientSession(
    new ScriptedAgent({ customizations: [server('a'), server('b'), folder] }),
  )
  await accepted(all.ann, session, off)
  await accepted(all.ann, session, { ...off, id: 'd' })
  const run = await turn(all, 't1', { type: 'session/mcpServerStateChanged', id: 'b', state: ready })
  run.end()
  const renamed = [{ ...server('a'), name: 'A' }, server('b'), { ...folder, name: 'E' }, server('c')]
  const next = new ScriptedAgent({ customizations: renamed })
  await all.restart('crash', undefined, [next])
  const ann = await all.join('ann')
  await ann.ask('subscribe', { channel: chat })
  await accepted(ann, chat, started('t2'))
  await next.given(0)
  expect(sessionOf(all).customizations).toEqual([
    { ...server('a'), name: 'A', enablement: [{ kind: 'session', enabled: false }] },
    { ...server('b'), state: ready },
    { ...folder, name: 'E', enabled: false },
    server('c'),
  ])
})

test('[H15.1] [H15] the same choice twice is refused', async () => {
  const all = await twoClientSession(new ScriptedAgent({ customizations: [server('a')] }))
  const enablement = [true, false].map((enabled) => ({ kind: 'session', enabled }))
  expect(await refused(all, session, { ...off, enablement })).toMatch(/at most one entry of each kind/)
})

test('[H15] removed customizations are gone with the next turn; without a change nothing is published', async () => {
  const all = await twoClientSession(new ScriptedAgent({ customizations: [server('a')] }))
  const published = () =>
    all.ben.envelopes.filter(({ action }) => action.type === 'session/customizationsChanged')
  ;(await turn(all, 't1')).end()
  expect(published()).toEqual([])
  await all.restart('crash', undefined, [new ScriptedAgent()])
  const ann = await all.join('ann', { subscribe: [session, chat] })
  await accepted(ann, chat, started('t2'))
  await ann.until(() => (ann.state(session)['customizations'] as readonly unknown[]).length === 0)
})

test.each(['Start', 'Stop', 'Background'])(
  '[H15.2] [H15] a request to %s an MCP server is refused',
  async (what) => {
    const all = await twoClientSession(new ScriptedAgent({ customizations: [server('a')] }))
    const action = { type: `session/mcpServer${what}Requested`, id: 'a' }
    expect(await refused(all, session, action)).toMatch(/itself: enable or disable this one/)
  },
)

test('[H15.1] [H15] a customization that is switched off stays off in the session that a chat is moved to', async () => {
  const all = await twoClientSession(new ScriptedAgent({ customizations: [server('a'), server('b')] }))
  await accepted(all.ann, session, off)
  const [moved, destination] = ['ahp-chat:/moved', { kind: 'newSession' } as const]
  await all.ann.ask('createChat', { channel: session, chat: moved })
  const { session: made } = await all.ann.ask('moveChat', { channel: moved, destination })
  await all.ann.ask('subscribe', { channel: made })
  expect(all.ann.state(made)['customizations']).toEqual(sessionOf(all).customizations)
  expect(sessionOf(all).customizations).toMatchObject([{ enablement: [{ enabled: false }] }, server('b')])
})
