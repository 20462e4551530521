import type { Envelope } from '@atrium/protocol/channel'
import { expect, test } from 'vitest'
import type { History, Stored } from '../chaos/history.ts'
import { judge } from '../chaos/judge/judge.ts'
import { since } from './round.ts'

const uri = 'ahp-session:/one'
const state = (title: string) => ({ title, status: 1, lifecycle: 'ready', activeClients: [], chats: [] })
const renamed = (serverSeq: number, title: string, clientId: string): Envelope => {
  const action = { type: 'session/titleChanged', title }
  return { channel: uri, action, serverSeq, origin: { clientId, clientSeq: 1 } }
}

/** The store after these envelopes. */
function stored(...envelopes: readonly Envelope[]): Stored {
  const last = envelopes.at(-1)?.action as { readonly title?: string } | undefined
  const birth = { seq: 3, state: state('') }
  const channel = { uri, kind: 'session', state: state(last?.title ?? ''), envelopes, birth }
  return { channels: [channel], damaged: [], sessions: [uri] }
}

/** What a client of the second round was told: the state of the first round, and then the echo of its own action. */
function second(): History {
  const action = { type: 'session/titleChanged', title: 'second' }
  const frames: readonly (readonly ['in' | 'out', object])[] = [
    ['out', { id: 1, method: 'createSession', params: { channel: uri } }],
    ['out', { id: 2, method: 'subscribe', params: { channel: uri } }],
    ['in', { id: 2, result: { snapshot: { resource: uri, fromSeq: 10, state: state('first') } } }],
    ['out', { method: 'dispatchAction', params: { channel: uri, clientSeq: 1, action } }],
    ['in', { method: 'action', params: renamed(12, 'second', 'ben') }],
  ]
  const lines = frames.map(([way, frame], at) => ({ at, link: 1, way, text: JSON.stringify(frame) }))
  return { client: 'ben', lines }
}

const first = renamed(10, 'first', 'ann')
const verdict = (now: Stored) =>
  judge({ name: 'round', histories: [second()], stored: since(now, stored(first)) }).violations.map(
    ({ rule }) => rule,
  )

test('[B27] a channel of an earlier round is judged from the state that it had then', () => {
  expect(verdict(stored(first, renamed(12, 'second', 'ben')))).toEqual([])
})

test('[B27] an action of the round that is not in the store is found', () => {
  expect(verdict(stored(first))).toContain('I1')
})
