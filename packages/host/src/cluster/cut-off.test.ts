import { expect, test } from 'vitest'
import { leaseMs } from '../../test/cluster/nodes.ts'
import { ownerAndStandby, renamed, session } from '../../test/cluster/owner-and-standby.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { leaseOver, takenOver } from './cluster-node.ts'

test('[L42.2] a renewal that finds a later epoch closes the links with the sentence of a deposed owner', async () => {
  const { pass, one, row, closed } = await ownerAndStandby()
  const third = row.leaseOf({ node: 'three' })
  await third.release(1)
  await third.acquire()
  await pass(leaseMs / 4)
  expect(one.node.role).toBe('standby')
  expect(String(closed.reason)).toContain(takenOver)
})

test('[L42.3] an owner that could not renew its lease for its whole length accepts no link until it can', async () => {
  const { pass, one, two, closed } = await ownerAndStandby()
  await two.node.close()
  one.cut = true
  await pass(leaseMs - 1000)
  expect(one.node.accepts).toBe(true)
  await pass(2000)
  expect([one.node.role, one.node.accepts]).toEqual(['owner', false])
  const refused = one.link()
  await untilIdle()
  expect(String(refused.closed.reason)).toContain('connect to the owner')
  expect(String(closed.reason)).toContain(leaseOver)
  one.cut = false
  await pass(leaseMs)
  await one.join('ben', [session])
})

test('[L42.3] a client that comes back to a cut-off owner, and waits there for a commit, is let go when the lease ends', async () => {
  const { pass, one, two, ann } = await ownerAndStandby()
  Object.assign(one, { cut: true, held: true })
  ann.dispatch(session, renamed('unknown'))
  await pass(leaseMs / 2)
  const { client, closed } = one.link()
  const answer = client.ask('reconnect', { clientId: 'ann', lastSeenServerSeq: 1, subscriptions: [session] })
  const settled = answer.then(
    () => true,
    () => true,
  )
  await pass(leaseMs)
  expect(closed.aborted).toBe(true)
  expect(await settled).toBe(true)
  expect(two.node.role).toBe('owner')
})

test('[L46.3] an owner whose renewal has failed says why, until one succeeds', async () => {
  const { pass, one, two } = await ownerAndStandby()
  expect(one.node.trouble).toBeUndefined()
  one.cut = true
  await pass(leaseMs / 4)
  expect(one.node.trouble).toBe('its database cannot be reached')
  expect(one.node.accepts).toBe(true)
  one.cut = false
  await pass(leaseMs / 4)
  expect(one.node.trouble).toBeUndefined()
  one.silent = true
  await pass(leaseMs / 2 + 500)
  expect(one.node.trouble).toBe('its watchdog does not answer')
  expect(two.node.trouble).toBeUndefined()
})
