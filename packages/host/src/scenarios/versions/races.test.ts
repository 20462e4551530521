import { expect, test } from 'vitest'
import { desk } from '../../../test/approvals.ts'
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
