import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import {
  chat,
  chatOf,
  session,
  sessionOf,
  started,
  oneClientSession,
  turn,
} from '../../test/one-client-session.ts'

test('[L4] F-08: a read-only host does not remove departed clients', async () => {
  const disposed: string[] = []
  const agent = { ...readyAgent(), dispose: async (uri: string) => void disposed.push(uri) }
  const { all } = await oneClientSession(agent)
  await all.restart('close', 'the disk is sealed')
  all.world.advance(limits.graceMs)
  await untilIdle()
  const ben = await all.join('ben', { subscribe: [session] })
  expect(ben.state(session)).toMatchObject({ lifecycle: 'ready' })
  expect(disposed).toEqual([])
})

test('[I13] a departed client is removed from intact sessions, also if a session that it left unused is damaged', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  await ann.ask('createSession', { channel: 'mock:/two' })
  await ann.echo(ann.dispatch('mock:/two', { type: 'session/titleChanged', title: 'Used' }))
  const activeClient = { clientId: 'ann', tools: [] }
  await ann.echo(ann.dispatch('mock:/two', { type: 'session/activeClientSet', activeClient }))
  await all.restart('close')
  const { load } = all.store().log
  all.store().log.load = async (uri, tail) =>
    uri === session ? { damaged: 'number 7 has a wrong checksum' } : load(uri, tail)
  all.world.advance(limits.graceMs)
  await untilIdle()
  const ben = await all.join('ben', { subscribe: ['mock:/two'] })
  expect(ben.state('mock:/two')).toMatchObject({ activeClients: [] })
})

test('[I1] a session that is used while its departed creator is being removed stays', async () => {
  const ready = readyAgent()
  const { all, ann } = await oneClientSession({
    ...ready,
    info: { ...ready.info, capabilities: { multipleChats: {} } },
  })
  await ann.ask('createChat', { channel: session, chat: 'c:/2' })
  await all.restart('close')
  const { load } = all.store().log
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  // The disk is slow to load one chat, and in the meantime a turn starts in the other chat.
  all.store().log.load = async (uri, tail) => {
    if (uri === 'c:/2') await gate
    return load(uri, tail)
  }
  all.world.advance(limits.graceMs)
  await untilIdle()
  const ben = await all.join('ben', { subscribe: [chat] })
  await turn(ben, 't')
  go()
  await untilIdle()
  await ben.ask('subscribe', { channel: chat })
  expect(ben.state(chat)).toMatchObject({ turns: [{ id: 't' }] })
})

test('[N1] a tool call that a client runs ends when the client leaves the session', async () => {
  const { all, ann } = await oneClientSession({
    ...readyAgent(),
    async *run({ when }) {
      const contributor = { kind: 'client', clientId: 'ben' } as const
      const tool = { toolCallId: 'call', toolName: 'lint', displayName: 'Lint', contributor }
      yield { type: 'chat/toolCallStart', ...tool }
      yield {
        type: 'chat/toolCallReady',
        toolCallId: 'call',
        invocationMessage: 'Linting',
        confirmed: 'not-needed',
      }
      await when(({ activeTurn }) => JSON.stringify(activeTurn).includes('"completed"'))
    },
  })
  const ben = await all.join('ben')
  const activeClient = { clientId: 'ben', tools: [{ name: 'lint' }] }
  await ben.echo(ben.dispatch(session, { type: 'session/activeClientSet', activeClient }))
  ann.dispatch(chat, started('t'))
  await ann.until(() => sessionOf(ann).inputNeeded !== undefined)
  ben.peer.close()
  await untilIdle()
  all.world.advance(limits.graceMs)
  await untilIdle()
  expect(chatOf(ann)).toMatchObject({
    turns: [{ state: 'complete', responseParts: [{ toolCall: { status: 'completed', success: false } }] }],
  })
  expect(sessionOf(ann).inputNeeded).toBeUndefined()
})
