import type { Version } from '@atrium/protocol/versions/negotiate'
import { expect, test } from 'vitest'
import { desk } from '../../../test/approvals.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

const session = 's:/1'

type OldAction = Value & { readonly type: string }

/** The reason for which an action of a version is refused. */
async function reasonFor(version: Version, ...actions: readonly OldAction[]): Promise<string | undefined> {
  const { all } = await desk()
  const client = new OlderClient(all, version)
  await client.open([session])
  let reason: string | undefined
  for (const action of actions) {
    const uri = action.type.startsWith('chat/') ? client.turnsOf(session) : session
    const echo = await client.echo(client.dispatch(uri, action))
    expect(echo.action).toEqual(client.nested ? { ...action, session } : action)
    reason = echo.rejectionReason
  }
  return reason
}

const act = (type: string, payload: Value = {}): OldAction => ({ type, ...payload })
const begun = (userMessage: Value) => act('session/turnStarted', { turnId: 't', userMessage })
const queued = (id: string, text: string) =>
  act('session/pendingMessageSet', { kind: 'queued', id, userMessage: { text } })

test.each<[Version, OldAction, string]>([
  ['0.1.0', begun({}), 'session/turnStarted: userMessage.text: '],
  [
    '0.2.0',
    act('session/pendingMessageSet', { kind: 'queued', id: 'q', userMessage: {} }),
    'userMessage.text: ',
  ],
  ['0.3.0', act('session/turnStarted', { turnId: 't', message: {} }), 'session/turnStarted: message.'],
  ['0.3.0', act('session/delta', { turnId: 't' }), 'session/delta is dispatched by the host only'],
  [
    '0.3.0',
    act('session/turnComplete', { turnId: 't' }),
    'session/turnComplete is dispatched by the host only',
  ],
  [
    '0.7.0',
    act('session/customizationToggled', { id: 'x', enabled: 1 }),
    'session/customizationToggled: enabled: ',
  ],
  ['0.8.0', act('session/customizationToggled', { id: 'x', enablement: 1 }), 'enablement: '],
  [
    '0.4.0',
    act('chat/turnStarted', { turnId: 't', message: { text: 1 } }),
    'chat/turnStarted: message.text: ',
  ],
])(
  '[V8.5] [V8] at %s the reason of a refusal has the names of the version: %o',
  async (version, action, reason) => {
    expect(await reasonFor(version, action)).toContain(reason)
  },
)

test('[V8.1] [V8] the members of an active client have the names of the version', async () => {
  const { all } = await desk()
  const client = new OlderClient(all, '0.1.0')
  await client.open([session])
  const changed = async (action: OldAction) =>
    (await client.echo(client.dispatch(session, action))).rejectionReason ?? 'accepted'
  const activeClient = { clientId: client.clientId, tools: [] }
  const lent = { ...activeClient, customizations: [{ uri: 'file:///p', displayName: 1 }] }
  expect(await changed(act('session/activeClientChanged', { activeClient: lent }))).toContain(
    'session/activeClientChanged: activeClient.customizations.0.displayName: ',
  )
  expect(await changed(act('session/activeClientChanged', { activeClient }))).toBe('accepted')
  expect(await changed(act('session/activeClientToolsChanged', { tools: [{ name: 1 }] }))).toContain(
    'session/activeClientToolsChanged: tools.0.name: ',
  )
})

test('[V8] up to 0.3 a reason speaks of the session, because there are no chats', async () => {
  const { all } = await desk()
  const client = new OlderClient(all, '0.2.0')
  await client.open([session])
  const outcome = async (action: OldAction) =>
    (await client.echo(client.dispatch(session, action))).rejectionReason
  const turn = begun({ text: 'say hi' })
  expect(await outcome(turn)).toBeUndefined()
  await client.until(() => (client.state(session)['turns'] as readonly Value[]).length === 1)
  expect(await outcome(turn)).toBe('this session had a turn with that id already')
  const unknown = { ...begun({ text: 'x' }), turnId: 't2', queuedMessageId: queued('q', 'x')['id'] }
  expect(await outcome(unknown)).toBe('this session has no pending message with that id')
})
