import { expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import type { Client, TestHost } from '../../test/test-host.ts'

const [one, two] = ['ahp-session:/one', 'ahp-session:/two']
const renamed = (title: string) => ({ type: 'session/titleChanged', title })
const day = 24 * 3600 * 1000

/** A host on the store as it was when a backup was made. Two of them are equal, because nothing in them is random. */
async function atBackup(): Promise<{ readonly all: TestHost; readonly ann: Client }> {
  const all = await testHost()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: one })
  await ann.ask('subscribe', { channel: one })
  await ann.echo(ann.dispatch(one, renamed('kept')))
  return { all, ann }
}

/**
 * A host that has done more after the backup, and one that was restored from it. `passed`: the milliseconds that have passed since
 * the backup at the first host, and at the second one, whose clock may be wrong.
 */
async function restored(passed: { readonly before: number; readonly after: number }) {
  const { all: before, ann } = await atBackup()
  const { all } = await atBackup()
  await before.host().close()
  before.world.advance(passed.before)
  await before.restart('close')
  const later = before.link()
  later.clientId = 'ann'
  later.clientSeq = ann.clientSeq
  const params = { clientId: 'ann', lastSeenServerSeq: ann.lastSeen, subscriptions: [one] }
  await later.ask('reconnect', params)
  await later.ask('createSession', { channel: two })
  await later.ask('subscribe', { channel: two })
  await later.echo(later.dispatch(one, renamed('lost')))
  await before.join('ben', { subscribe: [one] })
  await all.host().close()
  all.world.advance(passed.after)
  await all.restart('close')
  const back = all.link()
  const asked = { clientId: 'ann', lastSeenServerSeq: later.lastSeen, subscriptions: [one, two] }
  return { all, back, answer: await back.ask('reconnect', asked), later }
}

test.each([
  ['higher than', { before: day, after: 2 * day }],
  ['lower than', { before: day, after: 0 }],
] as const)(
  '[L47] a client comes back to a host that was restored from a backup, and whose numbers are %s those that it has seen',
  async (numbers, passed) => {
    const { all, back, answer, later } = await restored(passed)
    expect(answer).toMatchObject({ type: 'snapshot', snapshots: [{ resource: one }] })
    expect(answer).toMatchObject({ snapshots: { length: 1 } })
    expect(back.state(one)).toMatchObject({ title: 'kept' })
    expect(all.core().log.committedSeq > later.lastSeen).toBe(numbers === 'higher than')
    back.clientId = 'ann'
    // The action whose echo was lost with the newer store is sent again, and accepted.
    const echo = await back.echo(back.dispatch(one, renamed('again'), later.clientSeq))
    expect(echo.rejectionReason).toBeUndefined()
    const next = all.link()
    const subscriptions = [one]
    const params = { clientId: 'ann', lastSeenServerSeq: echo.serverSeq - 1, subscriptions }
    expect(await next.ask('reconnect', params)).toMatchObject({ actions: [{ serverSeq: echo.serverSeq }] })
  },
)

test('[L47] a client that the restored host never knew is told to initialize, and gets snapshots', async () => {
  const { all } = await restored({ before: day, after: 0 })
  const ben = all.link()
  const asked = ben.ask('reconnect', { clientId: 'ben', lastSeenServerSeq: 9e15, subscriptions: [one] })
  await expect(asked).rejects.toThrow('initialize instead')
  await ben.initialize('ben', [one])
  expect(ben.state(one)).toMatchObject({ title: 'kept' })
})
