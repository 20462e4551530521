import { expect, test } from 'vitest'
import { Replicas } from './replicas.ts'

const channel = 'ahp-session:/1'
const state = (title: string) => ({
  provider: 'a',
  title,
  status: 1,
  lifecycle: 'ready',
  activeClients: [],
  chats: [],
})
const titled = (serverSeq: number, title: string) => ({
  channel,
  serverSeq,
  action: { type: 'session/titleChanged', title },
})

function subscribed() {
  const replicas = new Replicas()
  replicas.snapshots([{ resource: channel, state: state('a'), fromSeq: 5 }])
  return replicas
}

test('[B27] a replica reduces envelopes and reports whether the state changed', () => {
  const replicas = subscribed()
  expect(replicas.apply(titled(6, 'b'))).toEqual({ changed: true })
  expect(replicas.apply(titled(7, 'b'))).toEqual({ changed: false })
  expect(replicas.apply({ ...titled(8, 'c'), rejectionReason: 'no' })).toEqual({})
  expect(replicas.lastSeen).toBe(8)
  expect(replicas.difference({ resource: channel, state: state('b'), fromSeq: 8 })).toBeUndefined()
  expect(replicas.difference({ resource: channel, state: state('c'), fromSeq: 8 })).toContain('differs at 8')
})

test('[B27] a number that does not rise, or that a snapshot already contains, is found', () => {
  expect(subscribed().apply(titled(5, 'b')).problem).toContain('in its snapshot')
  const replicas = subscribed()
  replicas.apply(titled(7, 'b'))
  expect(replicas.apply(titled(6, 'c')).problem).toContain('came after 7')
  replicas.newLink()
  expect(replicas.apply(titled(8, 'c')).problem).toBeUndefined()
})
