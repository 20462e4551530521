import { expect, test } from 'vitest'
import { deepFreeze } from '../../test/cases.ts'
import { lifting } from '../../test/lifting.ts'
import type { Action } from '../channel.ts'
import { kinds } from '../channels.ts'
import { checkAction } from '../kind.ts'
import type { SessionState } from '../session/state.ts'
import { chain } from './chain.ts'
import type { Lens } from './lens.ts'
import { v01 } from './steps/v0-1.ts'
import { v02 } from './steps/v0-2.ts'
import { v03 } from './steps/v0-3.ts'
import { v04 } from './steps/v0-4.ts'
import { v050 } from './steps/v0-5-0.ts'
import { v051 } from './steps/v0-5-1.ts'
import { v052 } from './steps/v0-5-2.ts'
import { v06 } from './steps/v0-6.ts'
import { v07 } from './steps/v0-7.ts'
import { v08 } from './steps/v0-8.ts'
import { v09 } from './steps/v0-9.ts'

// What clients of 0.1 to 0.4 dispatch, lifted through all steps to the native version.

const to04 = [v09, v08, v07, v06, v052, v051, v050, v04] as const
const [at04, at03, at02, at01] = [
  chain(to04),
  chain([...to04, v03]),
  chain([...to04, v03, v02]),
  chain([...to04, v03, v02, v01]),
]

const plugin = { type: 'plugin' as const, id: 'p', uri: 'file:///p', name: 'P', enablement: [] }
const session: Partial<SessionState> = {
  activeClients: [{ clientId: 'viewer', tools: [], customizations: [plugin] }],
  customizations: [plugin],
  _meta: { 'x-atrium': { selection: { model: { id: 'm' } } } },
}
const text = { text: 'Hello' }
const message = { ...text, origin: { kind: 'user' } }
const whole = { ...message, model: { id: 'm' } }
const now = { startedAt: '2026-01-02T03:04:05.006Z' }

test.each<[string, Lens, Action & object, Action & object]>([
  [
    '0.1',
    at01,
    { type: 'session/turnStarted', turnId: 't', userMessage: text } as Action,
    { type: 'chat/turnStarted', turnId: 't', message: whole, ...now } as Action,
  ],
  [
    '0.2',
    at02,
    { type: 'session/pendingMessageSet', kind: 'queued', id: 'q', userMessage: text } as Action,
    { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message: whole } as Action,
  ],
  [
    '0.3',
    at03,
    { type: 'session/turnStarted', turnId: 't', message } as Action,
    { type: 'chat/turnStarted', turnId: 't', message: whole, ...now } as Action,
  ],
  [
    '0.4',
    at04,
    { type: 'chat/turnStarted', turnId: 't', message } as Action,
    { type: 'chat/turnStarted', turnId: 't', message: whole, ...now } as Action,
  ],
  [
    '0.1',
    at01,
    { type: 'session/turnCancelled', turnId: 't' } as Action,
    { type: 'chat/turnCancelled', turnId: 't', duration: 1500 } as Action,
  ],
  [
    '0.1',
    at01,
    {
      type: 'session/toolCallConfirmed',
      turnId: 't',
      toolCallId: 'k',
      approved: true,
      confirmed: 'user-action',
    } as Action,
    {
      type: 'chat/toolCallConfirmed',
      turnId: 't',
      toolCallId: 'k',
      approved: true,
      confirmed: 'user-action',
    } as Action,
  ],
  [
    '0.1',
    at01,
    { type: 'session/customizationToggled', uri: 'file:///p', enabled: false } as Action,
    {
      type: 'session/customizationToggled',
      id: 'p',
      enablement: [{ kind: 'session', enabled: false }],
    } as Action,
  ],
  [
    '0.1',
    at01,
    {
      type: 'session/activeClientChanged',
      activeClient: {
        clientId: 'viewer',
        tools: [],
        customizations: [{ uri: 'file:///q', displayName: 'Q' }],
      },
    } as Action,
    {
      type: 'session/activeClientSet',
      activeClient: {
        clientId: 'viewer',
        tools: [],
        customizations: [{ type: 'plugin', id: 'viewer file:///q', uri: 'file:///q', name: 'Q' }],
      },
    } as Action,
  ],
  [
    '0.2',
    at02,
    { type: 'session/activeClientToolsChanged', tools: [{ name: 'n' }] } as Action,
    {
      type: 'session/activeClientSet',
      activeClient: { clientId: 'viewer', tools: [{ name: 'n' }], customizations: [plugin] },
    } as Action,
  ],
  [
    '0.3',
    at03,
    { type: 'session/activeClientChanged', activeClient: null } as Action,
    { type: 'session/activeClientRemoved', clientId: 'viewer' } as Action,
  ],
])('[V5] what a client of %s dispatches is valid in 1.0', (_, lens, action, native) => {
  const lifted = lens.actionUp('session', deepFreeze(action), lifting(session))
  expect(lifted).toStrictEqual(native)
  const kind = kinds[native.type.startsWith('chat/') ? 'chat' : 'session']
  expect(checkAction(kind, native)).toMatchObject({ ok: true })
})

test('[V5] [HC-32] a session that a client of 0.1 creates has the params of 1.0, and what the host emulates', () => {
  const params = {
    session: 'copilot:/s',
    provider: 'copilot',
    model: 'm',
    workingDirectory: 'file:///w',
    fork: { session: 'copilot:/o', turnId: 't' },
  }
  expect(at01.paramsUp('createSession', deepFreeze(params))).toStrictEqual({
    channel: 'copilot:/s',
    provider: 'copilot',
    model: { id: 'm' },
    workingDirectories: ['file:///w'],
    fork: { session: 'copilot:/o', turnId: 't' },
  })
})
