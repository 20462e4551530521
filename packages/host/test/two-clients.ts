import type { Action } from '@atrium/protocol/channel'
import { testHost } from './test-host.ts'
import type { Client, TestHost } from './test-host.ts'

export const session = 'ahp-session:/one'
export const title = (text: string): Action & Record<string, unknown> => ({
  type: 'session/titleChanged',
  title: text,
})

/** A host with Ann and Ben, both subscribed to one session. */
export async function twoClients(host?: TestHost): Promise<TestHost & { ann: Client; ben: Client }> {
  const all = host ?? (await testHost())
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  const ben = await all.join('ben')
  for (const client of [ann, ben]) await client.ask('subscribe', { channel: session })
  return { ...all, ann, ben }
}

/** Closes a client's connection and reconnects the client, which keeps its states. */
export async function reconnected(all: TestHost, gone: Client, subscriptions: readonly string[] = [session]) {
  gone.peer.close()
  const back = all.link()
  back.clientId = gone.clientId
  for (const [uri, state] of gone.states) back.states.set(uri, state)
  for (const [uri, kind] of gone.kinds) back.kinds.set(uri, kind)
  const result = await back.ask('reconnect', {
    clientId: gone.clientId,
    lastSeenServerSeq: gone.lastSeen,
    subscriptions,
  })
  return { back, result }
}
