import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { startWrongHost } from '../../../conformance/test/wrong-host.ts'
import type { Client } from './client.ts'
import { connect } from './connect.ts'
import { newId } from './shared/globals.ts'
import { SessionList } from './sessions.ts'

// The host is the one with which the conformance kit is tested. It shares no code with the host of this project.

async function clients(count: number): Promise<readonly Client[]> {
  const { url, close } = await startWrongHost()
  onTestFinished(close)
  return Array.from({ length: count }, () => {
    const client = connect({ url, WebSocket })
    onTestFinished(() => client.close())
    return client
  })
}

const started = (turnId: string, text: string) => ({
  type: 'chat/turnStarted' as const,
  turnId,
  startedAt: new Date().toISOString(),
  message: { text, origin: { kind: 'user' as const } },
})

test('[U1] with another host the client creates a session, lists it, and sees a turn of another client to its end', async () => {
  const [ann, ben] = await clients(2)
  if (!ann || !ben) throw new Error('no clients')
  const channel = `ahp-session:/${newId()}`
  const list = new SessionList(ben)
  onTestFinished(() => list.release())
  await ann.ask('createSession', { channel })
  const session = ann.subscribe('session', channel)
  const { defaultChat } = await session.until(({ lifecycle }) => lifecycle === 'ready')
  const uri = defaultChat ?? defaultChatUri(channel)
  const [mine, theirs] = [ann.subscribe('chat', uri), ben.subscribe('chat', uri)]
  await Promise.all([mine.ready(), theirs.ready()])
  const { outcome } = await mine.dispatch(started('t1', 'Say hello'))
  expect(outcome).toBe('accepted')
  const done = await theirs.until(({ turns }) => turns.length === 1)
  expect(JSON.stringify(done.turns)).toContain('Hello there.')
  const own = await mine.until(({ turns }) => turns.length === 1)
  expect(own).toEqual(done)
  await ann.ask('disposeSession', { channel })
})

test('[U1] with another host the client takes back a refused action, and says why', async () => {
  const [ann] = await clients(1)
  if (!ann) throw new Error('no client')
  const channel = `ahp-session:/${newId()}`
  await ann.ask('createSession', { channel })
  const session = ann.subscribe('session', channel)
  const { defaultChat } = await session.until(({ lifecycle }) => lifecycle === 'ready')
  const chat = ann.subscribe('chat', defaultChat ?? defaultChatUri(channel))
  const before = await chat.ready()
  const outcome = await chat.dispatch({ type: 'chat/turnCancelled', turnId: 'none', duration: 1 })
  expect(outcome).toMatchObject({ outcome: 'refused', reason: expect.any(String) })
  expect(chat.state).toEqual(before)
})
