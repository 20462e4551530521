import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { desk } from '../../../test/approvals.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'

const session = 's:/1'

test.each(['0.1.0', '0.4.0'] as const)(
  '[V8] a client at %s that makes itself active twice gets two echoes, each as it was sent',
  async (version) => {
    const { all } = await desk()
    const client = new OlderClient(all, version)
    await client.open([session])
    const activeClient = { clientId: client.clientId, displayName: 'Me', tools: [] }
    const join = () => client.dispatch(session, { type: 'session/activeClientChanged', activeClient })
    const first = await client.echo(join())
    const again = await client.echo(join())
    expect(again.rejectionReason).toBeUndefined()
    expect(again.action).toEqual(first.action)
  },
)

test('[V8] the last actions of a session that is disposed of have its name at 0.1', async () => {
  const { all, ann } = await desk()
  const own = 'ahp-session:/own'
  await ann.ask('createSession', { channel: own })
  const client = new OlderClient(all, '0.1.0')
  await client.open()
  await client.subscribe('guide:/own')
  const message = { text: 'later', origin: { kind: 'user' } }
  ann.dispatch(defaultChatUri(own), { type: 'chat/pendingMessageSet', kind: 'steering', id: 'q', message })
  await ann.ask('disposeSession', { channel: own })
  await untilIdle()
  const named = client.envelopes.map(({ action }) => action['session'])
  expect(named.length).toBeGreaterThan(0)
  expect(new Set(named)).toEqual(new Set(['guide:/own']))
})
