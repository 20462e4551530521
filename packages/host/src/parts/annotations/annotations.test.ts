import { sessionResourcesOf } from '../../catalog/session-resources.ts'
import { authorOf } from '@atrium/protocol/annotations/own'
import { rootUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import {
  annotated,
  idsOf,
  note,
  send,
  session,
  set,
  stateOf,
  uri,
} from '../../../test/annotated/annotated.ts'
import { hostWithFiles } from '../../../test/files-host.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { severalChats } from '../../../test/several-chats.ts'
import { advance, testHost } from '../../../test/test-host.ts'

describe('[H30] the annotations of a session', () => {
  test('[H30.1] are empty at first, and what one client writes every subscriber sees', async () => {
    const { all, ann } = await annotated()
    expect(stateOf(ann)).toEqual({ annotations: [] })
    const ben = await all.join('ben', { subscribe: [uri] })
    expect(await send(ann, set(note('n1')))).toBeUndefined()
    await ben.until(() => idsOf(ben).length === 1)
    expect(
      await send(ben, {
        type: 'annotations/entrySet',
        annotationId: 'n1',
        entry: { id: 'e2', text: 'so!' },
      } as never),
    ).toBeUndefined()
    expect(
      await send(ann, { type: 'annotations/updated', annotationId: 'n1', resolved: true } as never),
    ).toBeUndefined()
    await ben.until(() => stateOf(ben).annotations[0]?.resolved === true)
    expect(stateOf(ben)).toEqual(stateOf(ann))
    expect(stateOf(ann).annotations[0]?.entries.map((entry) => authorOf(entry)?.clientId)).toEqual([
      'ann',
      'ben',
    ])
  })

  test('survive a crash, are replayed to a client that comes back, and sleep', async () => {
    const { all, ann } = await annotated()
    const seen = ann.lastSeen
    await send(ann, set(note('n1')))
    await untilIdle()
    const before = stateOf(ann)
    await all.restart()
    const again = all.link()
    const result = await again.ask('reconnect', {
      clientId: 'ann',
      lastSeenServerSeq: seen,
      subscriptions: [uri],
    })
    expect(result).toMatchObject({ type: 'replay' })
    expect(JSON.stringify(result)).toContain('annotations/set')
    const ben = await all.join('ben', { subscribe: [uri] })
    expect(stateOf(ben)).toEqual(before)
    for (const client of [again, ben]) client.peer.notify('unsubscribe', { channel: uri })
    for (let n = 0; n < 3; n++, await untilIdle()) all.world.advance(60_000)
    expect(all.core().log.channel(uri)).toBeUndefined()
    const cem = await all.join('cem', { subscribe: [uri] })
    expect(stateOf(cem)).toEqual(before)
  })

  test('are counted in the session and in the session list, also after a restart', async () => {
    const { all, ann } = await annotated()
    const counted = { resource: uri, annotationCount: 1, entryCount: 2 }
    await ann.ask('subscribe', { channel: session })
    expect(ann.state(session)).not.toHaveProperty('annotations')
    await send(ann, set(note('n1')))
    await send(ann, {
      type: 'annotations/entrySet',
      annotationId: 'n1',
      entry: { id: 'e2', text: '' },
    } as never)
    await ann.ask('subscribe', { channel: session })
    expect(ann.state(session)).toMatchObject({ annotations: counted })
    const told = () => ann.notes.filter(({ params }) => JSON.stringify(params).includes('"entryCount":2'))
    all.world.advance(1000)
    await ann.until(() => told().length > 0)
    expect((await ann.ask('listSessions', {})).items).toMatchObject([{ annotations: counted }])
    await all.restart()
    const ben = await all.join('ben', { subscribe: [session] })
    expect((await ben.ask('listSessions', {})).items).toMatchObject([{ annotations: counted }])
    expect(ben.state(session)).toMatchObject({ annotations: counted })
  })

  test('[H30.1] make a session a used one: it outlives its creator', async () => {
    const { all, ann } = await annotated(advance)
    expect((await ann.ask('listSessions', {})).items).toEqual([])
    await send(ann, set(note('n1')))
    expect((await ann.ask('listSessions', {})).items).toHaveLength(1)
    ann.peer.close(1000, '')
    all.world.advance(4 * 3_600_000)
    const ben = await all.join('ben', { subscribe: [uri] })
    expect(idsOf(ben)).toEqual(['n1'])
  })

  test('[H30.4] are disposed of with the session, asleep or awake, and their URI is never used again', async () => {
    const { all, ann } = await annotated()
    await send(ann, set(note('n1')))
    await all.restart()
    const ben = await all.join('ben')
    await ben.ask('disposeSession', { channel: session })
    await expect(ben.ask('subscribe', { channel: uri })).rejects.toMatchObject({ code: -32008 })
    for (const channel of [session, uri])
      await expect(ben.ask('createSession', { channel })).rejects.toMatchObject({ code: -32003 })
    await all.restart()
    expect(sessionResourcesOf(all.core()).of(session)).toEqual([])
    expect(await all.core().log.wake(uri)).toBeUndefined()
  })

  test('do not let another channel have their URI, and leave a channel alone that has it already', async () => {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: uri })
    await expect(ann.ask('createSession', { channel: session })).rejects.toMatchObject({ code: -32003 })
    await ann.ask('createSession', { channel: 's:/2' })
    await expect(ann.ask('createSession', { channel: 's:/2/annotations' })).rejects.toMatchObject({
      code: -32003,
    })
    await ann.ask('subscribe', { channel: uri })
    expect(ann.state(uri)).toHaveProperty('chats')
  })

  test('[H30.2] [H30.4] stay with their session when a chat is moved or forked into another one', async () => {
    const all = await testHost({ agents: [severalChats()] })
    const ann = await all.join('ann', { subscribe: [rootUri] })
    for (const channel of [session, 's:/2']) await ann.ask('createSession', { channel })
    await ann.ask('createChat', { channel: session, chat: 'ahp-chat:/b' })
    await ann.ask('subscribe', { channel: uri })
    const chat = { session, chat: 'ahp-chat:/b' }
    expect(await send(ann, set(note('n1', { origin: chat, resource: 'git:/a' })))).toBeUndefined()
    await untilIdle()
    const destination = { kind: 'session', session: 's:/2' } as const
    await ann.ask('moveChat', { channel: 'ahp-chat:/b', destination })
    expect(stateOf(ann).annotations).toMatchObject([{ id: 'n1', origin: chat }])
    // The origin was accepted once, so the annotation can still be answered and resolved.
    const resolved = { type: 'annotations/updated', annotationId: 'n1', resolved: true }
    expect(await send(ann, resolved)).toBeUndefined()
    await ann.ask('subscribe', { channel: 's:/2/annotations' })
    expect(ann.state('s:/2/annotations')).toEqual({ annotations: [] })
  })

  test('[H30.5] of no session, and on a host that cannot create them now, cannot be subscribed to', async () => {
    const { all, ann } = await hostWithFiles()
    await expect(ann.ask('subscribe', { channel: 's:/9/annotations' })).rejects.toMatchObject({
      code: -32008,
    })
    await ann.ask('subscribe', { channel: session })
    await all.restart('close', 'the disk is worn out')
    const ben = await all.join('ben', { subscribe: [rootUri] })
    await expect(ben.ask('subscribe', { channel: uri })).rejects.toMatchObject({
      code: -32009,
      message: 'the disk is worn out',
    })
  })

  test('[H30.5] on a read-only host are shown and not changed', async () => {
    const { all, ann } = await annotated()
    await send(ann, set(note('n1')))
    await all.restart('close', 'the disk is worn out')
    const ben = await all.join('ben', { subscribe: [uri] })
    expect(idsOf(ben)).toEqual(['n1'])
    expect(await send(ben, set(note('n2')))).toBe('the disk is worn out')
    expect(idsOf(ben)).toEqual(['n1'])
  })

  test('are named by the alias of their session to a client that uses aliases', async () => {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: 'ahp-session:/x' })
    const ben = await all.join('ben')
    const named = await ben.ask('subscribe', { channel: 'mock:/x/annotations' })
    expect(named.snapshot).toMatchObject({ resource: 'mock:/x/annotations', state: { annotations: [] } })
    const annotation = { ...note('n1'), origin: { session: 'mock:/x' }, resource: 'git:/a.ts' }
    const echo = await ben.echo(ben.dispatch('mock:/x/annotations', set(annotation)))
    expect(echo).toMatchObject({
      channel: 'mock:/x/annotations',
      action: { annotation: { origin: { session: 'mock:/x' } } },
    })
    const { snapshot } = await ben.ask('subscribe', { channel: 'mock:/x' })
    expect(snapshot).toMatchObject({ state: { annotations: { resource: 'mock:/x/annotations' } } })
    const cem = await all.join('cem', { subscribe: ['ahp-session:/x/annotations'] })
    expect(cem.state('ahp-session:/x/annotations')).toMatchObject({
      annotations: [{ origin: { session: 'ahp-session:/x' } }],
    })
  })
})
