import { expect, test } from 'vitest'
import { leaseMs, testCluster } from '../../test/cluster/nodes.ts'
import type { TestNode } from '../../test/cluster/nodes.ts'
import { ownerAndStandby, renamed, session } from '../../test/cluster/owner-and-standby.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { StoreAway } from '../ports/lease.ts'
import { Damaged } from '../kernel/log/rebuild.ts'
import { DiskFull } from '../ports/log.ts'
import { databaseLost, leaseOver, takenOver } from './cluster-node.ts'

test('[L42] the first node becomes the owner, the second a standby that closes links with a sentence', async () => {
  const { one, two } = await ownerAndStandby()
  expect([one.node.role, two.node.role]).toEqual(['owner', 'standby'])
  expect(one.roles).toEqual(['opening', 'owner'])
  expect(two.node.lease).toMatchObject({ node: 'one', url: 'ws://one/', epoch: one.node.epoch })
  const { closed } = two.link()
  await untilIdle()
  expect(String(closed.reason)).toContain('this node does not serve now; connect to the owner, or try again')
})

test('[L42] an owner that renews its lease stays the owner', async () => {
  const { pass, one, two } = await ownerAndStandby()
  await pass(5 * leaseMs)
  expect([one.node.role, two.node.role]).toEqual(['owner', 'standby'])
  expect(one.node.epoch).toBe(1)
})

test('[L42] an owner that is cut off closes its links when its lease ends, is deposed, and becomes a standby', async () => {
  const { pass, one, two, closed } = await ownerAndStandby()
  one.cut = true
  await pass(2 * leaseMs)
  expect(two.node.role).toBe('owner')
  expect(two.node.epoch).toBe(2)
  one.cut = false
  await pass(leaseMs)
  expect(one.roles).toEqual(['opening', 'owner', 'standby'])
  expect(String(closed.reason)).toContain(leaseOver)
  expect(one.node.lease).toMatchObject({ node: 'two' })
})

test('[L42] a write finds the new epoch before a renewal does: nothing is confirmed, and the owner is deposed', async () => {
  const { pass, one, two, ann, closed } = await ownerAndStandby()
  const before = ann.envelopes.length
  one.cut = true
  one.held = true
  ann.dispatch(session, renamed('lost'))
  await untilIdle()
  await pass(2 * leaseMs)
  expect(two.node.role).toBe('owner')
  one.release()
  await untilIdle()
  expect(one.node.role).toBe('standby')
  expect(closed.aborted).toBe(true)
  expect(ann.envelopes.slice(before)).toEqual([])
  const ben = await two.join('ben', [session])
  expect(ben.state(session)['title']).not.toBe('lost')
})

test('[L42] what the earlier owner confirmed is replayed by the new one, whose numbers are higher', async () => {
  const { pass, one, two, ann } = await ownerAndStandby()
  const kept = await ann.echo(ann.dispatch(session, renamed('kept')))
  one.cut = true
  await pass(2 * leaseMs)
  const { client } = two.link()
  const answer = await client.ask('reconnect', {
    clientId: 'ann',
    lastSeenServerSeq: kept.serverSeq - 1,
    subscriptions: [session],
  })
  expect(answer).toMatchObject({ type: 'replay', actions: [{ serverSeq: kept.serverSeq }] })
  client.clientId = 'ann'
  const next = await client.echo(client.dispatch(session, renamed('next'), 2))
  expect(next.serverSeq).toBeGreaterThan(kept.serverSeq)
  expect(next.rejectionReason).toBeUndefined()
})

test('[L42] while the lease is not renewed in time, changes are refused with a sentence, and accepted again later', async () => {
  const { world, pass, one, ann } = await ownerAndStandby()
  one.cut = true
  await pass(leaseMs / 2 + 500)
  const refused = await ann.echo(ann.dispatch(session, renamed('early')))
  expect(refused.rejectionReason).toContain('cannot reach its database')
  const other = ann.ask('createSession', { channel: 'ahp-session:/two', provider: 'mock' })
  await expect(other).rejects.toThrow('cannot reach its database')
  one.cut = false
  await pass(leaseMs / 4)
  expect((await ann.echo(ann.dispatch(session, renamed('again')))).rejectionReason).toBeUndefined()
  expect(world.reports.map(({ event }) => event)).toContain('lease renewed late')
})

test('[L42.4] an owner that is closed gives the lease back, and a standby takes over in a fortieth of it', async () => {
  const { pass, one, two } = await ownerAndStandby()
  await one.node.close()
  expect(one.calls.slice(-2)).toEqual(['stop', 'release'])
  await pass(leaseMs / 40)
  expect(two.node.role).toBe('owner')
})

test('[L42.6] an owner whose store gives up becomes a standby, and the owner again when its database is back', async () => {
  const { pass, one, two, ann, closed } = await ownerAndStandby()
  await two.node.close()
  const kept = await ann.echo(ann.dispatch(session, renamed('kept')))
  Object.assign(one, { cut: true, away: true })
  ann.dispatch(session, renamed('lost'))
  await pass(1000)
  expect(one.node.role).toBe('standby')
  expect(String(closed.reason)).toContain(databaseLost)
  Object.assign(one, { cut: false, away: false })
  // The lease has not expired: the node gives its own one back first.
  await pass(leaseMs / 4)
  expect([one.node.role, one.node.epoch]).toEqual(['owner', 2])
  const since = one.calls.indexOf('expire')
  const calls = ['expire', 'stop', 'release', 'mark', 'acquire', 'confirm 0']
  expect(one.calls.slice(since, since + calls.length)).toEqual(calls)
  const { client } = one.link()
  const subscriptions = [session]
  const answer = await client.ask('reconnect', {
    clientId: 'ann',
    lastSeenServerSeq: kept.serverSeq,
    subscriptions,
  })
  expect(answer).toMatchObject({ type: 'replay', actions: [] })
})

test('[L42.6] a database that goes away while a node opens its host ends nothing but this attempt', async () => {
  const { add, pass } = testCluster()
  let attempts = 0
  const one = add('one', {
    open: () => {
      attempts++
      return Promise.reject(new StoreAway('cannot be reached'))
    },
  })
  await one.node.start()
  await pass(leaseMs)
  expect(attempts).toBeGreaterThan(1)
  expect(one.node.role).toBe('standby')
  expect(one.calls.join()).not.toContain('failed')
})

test('[L43.1] a mark comes before every request for the lease, and its confirmation after it', async () => {
  const { pass, one } = await ownerAndStandby()
  await pass(leaseMs)
  one.cut = true
  await pass(leaseMs)
  const calls = one.calls.join(', ')
  expect(calls).toMatch(/^mark, acquire, confirm 0(, mark, renew, confirm 0)+(, mark, renew)+$/)
  one.cut = false
  await pass(2 * leaseMs)
  expect(one.calls).toContain('expire')
})

test('[L42.1] an owner whose watchdog does not answer sends no renewal, and finds out that it was deposed', async () => {
  const { pass, one, two } = await ownerAndStandby()
  one.silent = true
  one.calls.length = 0
  await pass(3 * leaseMs)
  expect(two.node.role).toBe('owner')
  expect(one.node.role).toBe('standby')
  expect(one.calls).not.toContain('renew')
})

test('[L43.4] a host is told to change nothing after its node was deposed', async () => {
  const { pass, one, two, terms } = await ownerAndStandby()
  expect(terms[0]?.refusal()).toBeUndefined()
  one.cut = true
  await pass(2 * leaseMs)
  one.cut = false
  await pass(leaseMs)
  expect(two.node.role).toBe('owner')
  expect(terms.map(({ refusal }) => refusal())).toEqual([expect.stringContaining(takenOver), undefined])
})

test('[L43.2] a deposed owner that has ended its work ends nothing any more', async () => {
  const { pass, one } = await ownerAndStandby()
  one.cut = true
  await pass(2 * leaseMs)
  one.cut = false
  await pass(leaseMs)
  expect(one.calls.slice(one.calls.indexOf('expire'))).toEqual(['expire', 'stop'])
})

test('[L42] a host that cannot be opened gives the lease back and is reported', async () => {
  const { add, row } = testCluster()
  const one = add('one', { open: () => Promise.reject(new Error('no tables')) })
  await one.node.start()
  expect(one.calls).toEqual(['mark', 'acquire', 'confirm 0', 'stop', 'release', 'failed: Error: no tables'])
  expect((await row.leaseOf({ node: 'two' }).read())?.msLeft).toBe(0)
})

test.each([
  ['can ask the database', false],
  ['cannot ask the database', true],
])(
  '[L42.7] a node that another one replaces while it opens its host becomes a standby, whatever it has read, if it %s',
  async (_, cut) => {
    const { add, pass } = testCluster()
    let fail = (_error: Error) => {}
    const opening = new Promise<never>((_resolve, reject) => (fail = reject))
    let attempts = 0
    const one = add('one', {
      open: () => (attempts++ === 0 ? opening : Promise.reject(new Error('again'))),
    })
    const two = add('two')
    const started = one.node.start()
    await untilIdle()
    one.cut = true
    await pass(leaseMs)
    await two.node.start()
    expect([one.node.role, two.node.role]).toEqual(['opening', 'owner'])
    one.cut = cut
    // The list is from before the take-over, and the count from after it.
    fail(new Damaged('the session list is damaged: it has 0, and the log counts 3'))
    await started
    expect(one.node.role).toBe('standby')
    one.cut = false
    await pass(leaseMs)
    expect(one.calls.filter((call) => call.startsWith('failed'))).toEqual([])
    expect([one.node.role, two.node.role]).toEqual(['standby', 'owner'])
    // The node looks at the lease as every standby does, and takes over when it can.
    await two.node.close()
    await pass(leaseMs)
    expect(attempts).toBe(2)
    expect(one.calls).toContain('failed: Error: again')
  },
)

test('[L42.5] a failure to open the host is reported if the node still has the lease, also if it cannot ask', async () => {
  const { add } = testCluster()
  const one: TestNode = add('one', {
    open: () => {
      one.cut = true
      return Promise.reject(new Damaged('the session list is damaged'))
    },
  })
  await one.node.start()
  expect(one.calls).toContain('failed: Damaged: the session list is damaged')
})

test('[L42] a lease that cannot be read at the start is an error, and later it is tried again', async () => {
  const { add, pass } = testCluster()
  const one = add('one')
  one.cut = true
  await expect(one.node.start()).rejects.toThrow('cannot be reached')
  one.cut = false
  await pass(leaseMs)
  expect(one.node.role).toBe('owner')
})

test('[L42.5] a node whose take-over finds the disk full stays a standby if its starter says so, and takes over when there is space', async () => {
  const cluster = testCluster()
  const one = cluster.add('one')
  const two = cluster.add('two', { mayPass: (error) => error instanceof DiskFull })
  await one.node.start()
  await two.node.start()
  two.full = true
  one.cut = true
  await cluster.pass(3 * leaseMs)
  expect(two.roles.slice(0, 2)).toEqual(['opening', 'standby'])
  expect(two.node.host).toBeUndefined()
  expect(two.calls.filter((call) => call.startsWith('failed'))).toEqual([])
  // Its attempts are as rare as its looks at the lease.
  expect(two.calls.filter((call) => call === 'acquire').length).toBeLessThan(13)
  two.full = false
  await cluster.pass(leaseMs)
  expect(two.node.role).toBe('owner')
})
