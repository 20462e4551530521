import type { Action } from '@atrium/protocol/channel'
import { testHost } from './test-host.ts'
import type { Client, TestHost, TestHostOptions } from './test-host.ts'

export const root = 'ahp-root://'
export const session = 'ahp-session:/one'
export const title = (text: string): Action & Record<string, unknown> => ({
  type: 'session/titleChanged',
  title: text,
})

/** Waits until all running work is done. */
export async function untilIdle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Lets days pass, one after the other, with the daily work of the host. */
export async function days({ world }: TestHost, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    world.advance(24 * 60 * 60_000)
    for (let step = 0; step < 5; step++) {
      await untilIdle()
      world.advance(0)
    }
  }
}

/** A host with Ann and Ben, who are subscribed to one session. Between `hold` and `release` no flush is completed. */
export async function heldHost({ limits = {} }: Pick<TestHostOptions, 'limits'> = {}): Promise<
  TestHost & { ann: Client; ben: Client; hold: () => void; release: () => void }
> {
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const all = await testHost({ soon, limits })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  const ben = await all.join('ben')
  for (const client of [ann, ben]) await client.ask('subscribe', { channel: session })
  await untilIdle()
  const release = () => {
    holding = false
    for (const task of tasks.splice(0)) task()
  }
  return { ...all, ann, ben, hold: () => void (holding = true), release }
}

/** Unsubscribes, and then waits for the response of a request, so that the host has processed the notification. */
export const unsubscribe = async (client: Client) => {
  client.peer.notify('unsubscribe', { channel: session })
  await client.ask('listSessions', {})
}

/** Closes a client's connection and reconnects the client on a new one. */
export const reconnectClient = async (
  all: TestHost,
  gone: Client,
  lastSeenServerSeq: number,
  subscriptions: readonly string[] = [session],
) => {
  gone.peer.close()
  const link = all.link()
  link.clientId = gone.clientId
  const result = await link.ask('reconnect', { clientId: gone.clientId, lastSeenServerSeq, subscriptions })
  return { link, result }
}
