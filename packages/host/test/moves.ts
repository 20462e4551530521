import { catalogOf } from '../src/catalog/catalog.ts'
import type { SessionState } from '@atrium/protocol/session/state'
import { expect } from 'vitest'
import type { Agent } from '../src/ports/agent.ts'
import { untilIdle } from './held-flushes.ts'
import { until } from './scripted-agent.ts'
import type { Client, TestHost } from './test-host.ts'
import { severalChats, turnsIn } from './several-chats.ts'
import { chat, session, oneClientSession } from './one-client-session.ts'

export const two = 'mock:/two'
export const [a, b, c] = ['ahp-chat:/a', 'ahp-chat:/b', 'ahp-chat:/c'] as const

/** A host with Ann, who has a session with three chats in addition to the default chat, and a second session. */
export async function withChats(
  agent: Agent = severalChats(),
  options: Parameters<typeof oneClientSession>[1] = {},
) {
  const found = await oneClientSession(agent, options)
  const { ann } = found
  await turnsIn(ann, chat, ['t1'])
  for (const uri of [a, b, c]) await ann.ask('createChat', { channel: session, chat: uri })
  await ann.ask('createSession', { channel: two })
  await ann.ask('subscribe', { channel: two })
  await ann.ask('subscribe', { channel: b })
  await untilIdle()
  return found
}

/** Does the same as `withChats`, on a disk that blocks between `hold` and `release`. */
export async function withSlowDisk() {
  let holding = false
  const tasks: (() => void)[] = []
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const found = await withChats(severalChats(), { soon })
  const release = () => {
    holding = false
    for (const task of tasks.splice(0)) task()
  }
  return { ...found, hold: () => void (holding = true), release }
}

export const move = (client: Client, channel: string, destination: object) =>
  client.ask('moveChat', { channel, destination: destination as never })
export const moveToSession = (client: Client, channel: string, uri: string, after?: string) =>
  move(client, channel, { kind: 'session', session: uri, ...(after !== undefined && { after }) })

export const chatsOf = (client: Client, uri = session) =>
  (client.state(uri) as unknown as SessionState).chats.map(({ resource }) => resource)

/** Checks that every chat is in exactly one session, and that the index names this session. */
export function expectOneSession({ core }: TestHost, ...sessions: readonly string[]): void {
  const { log } = core()
  const catalog = catalogOf(core())
  const all = sessions.flatMap((uri) =>
    ((log.channel(uri)?.head as SessionState | undefined)?.chats ?? []).map(({ resource }) => [
      resource,
      uri,
    ]),
  )
  expect(new Set(all.map(([uri]) => uri)).size).toBe(all.length)
  for (const [uri = '', home] of all) expect(catalog.sessionOf(uri)).toBe(home)
}

/** Waits until the changes of the session list, which are sent in batches, have arrived. */
export const listed = ({ world }: TestHost, done: () => boolean) =>
  until(() => {
    world.advance(100)
    return done()
  })

export function isAdded({ notes }: Client, uri: string): boolean {
  const added = notes.filter(({ method }) => method === 'root/sessionAdded')
  return added.some(({ params }) => (params['summary'] as { resource: string }).resource === uri)
}
