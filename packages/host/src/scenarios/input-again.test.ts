import { expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import { fakeTerminals } from '../../test/fake-terminals.ts'

const uri = 'ahp-terminal:/1'
const typed = { type: 'terminal/input', data: 'rm -r build\r' }

test('[L6] [I6] [F-22] terminal input is not repeated when a reconnecting client sends it again', async () => {
  const terminals = fakeTerminals()
  const all = await testHost({ machine: { terminals } })
  const ann = await all.join('ann')
  await ann.ask('createTerminal', { channel: uri, claim: { kind: 'client', clientId: 'ann' } })
  await ann.ask('subscribe', { channel: uri })
  const { lastSeen } = ann
  // The input is accepted. The links below then act as if its echo had never arrived.
  await ann.echo(ann.dispatch(uri, typed, 7))
  for (const [seen, reason] of [
    [lastSeen, undefined],
    [0, /^already accepted as \d+$/],
  ] as const) {
    const again = all.link()
    again.clientId = 'ann'
    const params = { clientId: 'ann', lastSeenServerSeq: seen, subscriptions: [uri] }
    const { type } = await again.ask('reconnect', params)
    expect(type).toBe(seen === 0 ? 'snapshot' : 'replay')
    again.dispatch(uri, typed, 7)
    const own = await again.echo(7)
    if (reason) expect(own.rejectionReason).toMatch(reason)
    else expect(own.rejectionReason).toBeUndefined()
    await again.ask('ping', {})
  }
  expect(terminals.shells[0]?.typed).toEqual([typed.data])
})
