import { expect, test } from 'vitest'
import { Activity, Flag } from '../status.ts'
import { reducers } from '../reducers.ts'
import { sessionStatus } from './activity.ts'
import type { SessionState } from './state.ts'

const { Idle, Error: Failed, InProgress, InputNeeded } = Activity
const time = (day: number) => `2026-01-0${day}T00:00:00Z`
const chatsOf = (...all: readonly number[]) =>
  all.map((status, i) => ({ resource: `c:/${i}`, title: '', status, modifiedAt: time(i + 1) }))
const sessionOf = (part: Partial<SessionState>): SessionState => ({
  provider: 'mock',
  title: '',
  status: Idle,
  lifecycle: 'ready',
  activeClients: [],
  chats: [],
  ...part,
})

test.each<[what: string, state: Partial<SessionState>, status: number]>([
  ['has no chat', {}, Idle],
  ['was not created', { lifecycle: 'failed', chats: chatsOf(InProgress) }, Failed],
  ['has a chat that needs input', { chats: chatsOf(Failed, InputNeeded), defaultChat: 'c:/0' }, InputNeeded],
  ['has a chat that failed', { chats: chatsOf(InProgress, Failed), defaultChat: 'c:/0' }, Failed],
  ['has a default chat', { chats: chatsOf(InProgress, Idle), defaultChat: 'c:/0' }, InProgress],
  ['has no default chat, but a newest one', { chats: chatsOf(InProgress, Idle) }, Idle],
  ['has flags of its own', { status: InProgress | Flag.IsRead, chats: chatsOf(Idle) }, Idle | Flag.IsRead],
  ['has a chat with flags', { chats: chatsOf(Idle | Flag.IsArchived) }, Idle],
])('[H10] [H10.1] [H10.4] the status to show for a session that %s', (_, state, status) => {
  expect(sessionStatus(sessionOf(state))).toBe(status)
})

test('[H10] [H10.3] [H10.4] after a request for input, the reduced status says "in progress" for ever, and the status to show does not', () => {
  const request = { kind: 'chatInput', id: 'r', chat: 'c:/0', request: { id: 'q' } } as const
  const asked = reducers.session(sessionOf({ chats: chatsOf(InputNeeded) }), {
    type: 'session/inputNeededSet',
    request,
  })
  expect([asked.status, sessionStatus(asked)]).toEqual([InputNeeded, InputNeeded])
  const answered = reducers.session(asked, { type: 'session/inputNeededRemoved', id: 'r' })
  const changes = { status: Idle }
  const idle = reducers.session(answered, { type: 'session/chatUpdated', chat: 'c:/0', changes })
  expect([idle.status, sessionStatus(idle)]).toEqual([InProgress, Idle])
})
