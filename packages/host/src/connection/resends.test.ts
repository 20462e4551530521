import { expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import type { Client, TestHost } from '../../test/test-host.ts'
import { isResendOf } from '../parts/turn/pin.ts'
import { Resends } from './resends.ts'

const session = 'ahp-session:/one'
const other = 'ahp-session:/two'
const title = (text: string) => ({ type: 'session/titleChanged', title: text })

/** Ann follows one of two sessions. She dispatched to both, and her connection was cut before either echo arrived. */
async function cutOff() {
  const all = await testHost()
  const ben = await all.join('ben')
  for (const channel of [session, other]) {
    await ben.ask('createSession', { channel })
    await ben.ask('subscribe', { channel })
  }
  const ann = await all.join('ann', { subscribe: [session] })
  const { lastSeen } = ann
  ann.dispatch(other, title('not followed'))
  ann.dispatch(session, title('followed'))
  await ben.until(() => ben.state(session)['title'] === 'followed')
  ann.peer.close()
  return { all, ben, lastSeen }
}

/** Reconnects Ann on a new connection. */
async function reconnected(
  all: TestHost,
  lastSeenServerSeq: number,
  subscriptions: readonly string[],
): Promise<Client> {
  const link = all.link()
  link.clientId = 'ann'
  link.lastSeen = lastSeenServerSeq
  await link.ask('reconnect', { clientId: 'ann', lastSeenServerSeq, subscriptions })
  return link
}

const reconnects: readonly (readonly [string, readonly string[]])[] = [
  ['a replay', [session]],
  // Ann never had a snapshot of the other session, so no replay is possible and she gets snapshots.
  ['snapshots', [session, other]],
]

for (const restarted of [false, true])
  test.each(reconnects)(
    `[L6] I6: resends lost after %s are recognized on the next connection${restarted ? ' to a restarted host' : ''}`,
    async (_, subscriptions) => {
      const { all, ben, lastSeen } = await cutOff()
      const lost = await reconnected(all, lastSeen, subscriptions)
      expect(lost.lastSeen).toBeGreaterThan(lastSeen)
      lost.peer.close()
      if (restarted) await all.restart('close')
      const back = await reconnected(all, lost.lastSeen, subscriptions)
      back.dispatch(other, title('not followed'), 1)
      expect(await back.echo(1)).toMatchObject({
        rejectionReason: expect.stringMatching(/^already accepted as \d+$/),
      })
      back.dispatch(session, title('next'), 3)
      await back.echo(3)
      expect(ben.envelopes.filter(({ origin }) => origin?.clientSeq === 1)).toHaveLength(1)
    },
  )

test('[L6] [L6.2] an action to which the host added metadata is recognized when it is sent again', () => {
  const answer = { type: 'chat/toolCallConfirmed', toolCallId: 'c1' }
  const taken = JSON.stringify({ ...answer, _meta: { own: 1, 'x-atrium.over': {} } })
  const rules = { resends: [isResendOf], movedResends: [] }
  const resends = () =>
    new Resends(rules, [
      { seq: 5, channel: other, action: taken, origin: { clientId: 'ann', clientSeq: 3, principal: 'ann' } },
    ])
  const again = (own: number) =>
    resends().match({ uri: other, kindName: 'session' }, 3, { ...answer, _meta: { own } } as never)?.seq
  expect([again(1), again(2)]).toEqual([5, undefined])
})
