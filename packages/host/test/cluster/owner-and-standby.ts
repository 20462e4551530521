import { untilIdle } from '../held-flushes.ts'
import { testCluster } from './nodes.ts'

export const session = 'ahp-session:/one'
export const renamed = (title: string) => ({ type: 'session/titleChanged', title })

/** An owner with a client in a session, and a standby. */
export async function ownerAndStandby() {
  const cluster = testCluster()
  const one = cluster.add('one')
  const two = cluster.add('two')
  await one.node.start()
  await two.node.start()
  const link = one.link()
  await link.client.initialize('ann')
  await link.client.ask('createSession', { channel: session, provider: 'mock' })
  await link.client.ask('subscribe', { channel: session })
  await untilIdle()
  return { ...cluster, one, two, ann: link.client, closed: link.closed }
}
