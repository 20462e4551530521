import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatSource } from '@atrium/protocol/chat/commands'
import { chatSummaryShape } from '@atrium/protocol/chat/state'
import type { ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { chatUri } from '@atrium/protocol/uri'
import { answer } from './wrong-agent.ts'
import { beginningOf, cutForks } from './wrong-moves.ts'
import type { Beginning } from './wrong-moves.ts'
import type { Follower, WrongLog } from './wrong-log.ts'

/** A new chat of a session, which does not list it yet. */
export function bornChat(
  host: WrongLog,
  session: Uri,
  uri: Uri,
  { turns, origin }: Beginning = { turns: [] },
): ChatSummary {
  const about = { resource: uri, title: '', status: 1, modifiedAt: new Date().toISOString() }
  const movable = uri !== chatUri(session) && !host.has('unmovable') && { movable: true }
  const summary = { ...about, ...movable, ...(origin && { origin }) }
  const elsewhere = host.has('createdStateForeign') && uri !== chatUri(session)
  const resource = elsewhere ? chatUri(session) : uri
  host.channels.set(uri, { kind: 'chat', state: { ...summary, resource, turns } })
  host.owners.set(uri, session)
  return summary
}

export function createChat(host: WrongLog, session: Uri, uri: Uri, source?: ChatSource): null {
  if (!host.summaries.has(session)) {
    if (host.has('chatWithoutSession')) return null
    throw AhpError.sessionNotFound(session)
  }
  if (host.channels.has(uri) && !host.has('usedChatTaken')) throw AhpError.alreadyExists(uri)
  const summary = bornChat(host, session, uri, beginningOf(host, session, source))
  const added = { type: 'session/chatAdded', summary } as Action
  if (host.has('chatAddedLate')) setImmediate(() => host.append(session, added))
  else host.append(session, added)
  return null
}

export function disposeChat(host: WrongLog, uri: Uri): null {
  const session = host.owners.get(uri)
  if (session === undefined) throw AhpError.notFound(uri)
  if (!host.has('disposedChatReadable')) host.channels.delete(uri)
  host.owners.delete(uri)
  if (!host.has('chatRemovedSilently'))
    host.append(session, { type: 'session/chatRemoved', chat: uri } as Action)
  return null
}

export function disposeChats(host: WrongLog, session: Uri): void {
  for (const [chat, owner] of host.owners)
    if (owner === session) {
      host.owners.delete(chat)
      if (!host.has('chatsOutlive')) host.channels.delete(chat)
    }
}

/** What a chat shows to somebody who asks for its last turns. */
export function viewOf(host: WrongLog, state: ChatState, wanted?: number): ChatState {
  const { activeTurn } = state
  const shown =
    activeTurn && host.has('joinedBehind')
      ? { ...state, activeTurn: { ...activeTurn, responseParts: [] } }
      : state
  const last = wanted ?? (host.has('historyCut') ? 1 : undefined)
  if (last === undefined || last >= state.turns.length || host.has('viewIgnored')) return shown
  const turns = state.turns.slice(state.turns.length - last)
  return { ...shown, turns, ...(!host.has('cursorMissing') && { turnsNextCursor: String(last) }) }
}

/** One turn more than the cursor says are there; told to who asks and kept by nobody. */
export function fetchTurns(host: WrongLog, link: Follower, chat: Uri, cursor = '0'): object {
  const state = host.channels.get(chat)?.state as ChatState | undefined
  if (!state) throw AhpError.notFound(chat)
  if (!/^\d+$/.test(cursor) && !host.has('anyTurnsCursor')) throw AhpError.invalidParams('cursor')
  const end = state.turns.length - (Number(cursor) || 0)
  const turns = state.turns.slice(Math.max(0, end - 1), Math.max(0, end))
  const more = end > 1 && { turnsNextCursor: String(Number(cursor) + 1) }
  const action = { type: 'chat/turnsLoaded', turns, ...more } as Action
  const tell = () => link.tell({ channel: chat, action, serverSeq: ++host.seq })
  if (host.has('turnsLoadedLate')) setImmediate(tell)
  else tell()
  return {}
}

/** What else happens when something has happened in a chat. */
export function followChat(host: WrongLog, uri: Uri, action: Action): void {
  const session = host.owners.get(uri) ?? ''
  const listed = (host.channels.get(session)?.state as SessionState | undefined)?.chats
  const entry = listed?.find(({ resource }) => resource === uri)
  const state = host.channels.get(uri)?.state as ChatState
  const changes = Object.fromEntries(
    Object.entries(state).filter(
      ([key, value]) => key in chatSummaryShape && entry && value !== entry[key as keyof ChatSummary],
    ),
  )
  const named = host.has('chatUpdateNamed') && { resource: uri }
  if (Object.keys(changes).length > 0 && !host.has('catalogueStale'))
    host.append(session, {
      type: 'session/chatUpdated',
      chat: uri,
      changes: { ...changes, ...named },
    } as Action)
  cutForks(host, uri, action)
  if (action.type === 'chat/turnStarted') answer(host, uri, (action as Action & { turnId: string }).turnId)
}
