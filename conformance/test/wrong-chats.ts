import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatSource } from '@atrium/protocol/chat/commands'
import { chatSummaryShape } from '@atrium/protocol/chat/state'
import type { ChatState, ChatSummary, ResponsePart } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { actionOf } from '../src/kit/action.ts'
import { runAgent } from './wrong-agent.ts'
import { startQueuedTurn, continueTurn, updateInputNeeded } from './wrong-input-requests.ts'
import { encoded, newChat } from './wrong-creation.ts'
import { initialContent, truncateForks } from './wrong-moves.ts'
import type { Subscriber, WrongLog } from './wrong-log.ts'

export function createChat(host: WrongLog, session: Uri, uri: Uri, source?: ChatSource): null {
  if (!host.summaries.has(session)) {
    if (host.has('chatWithoutSession')) return null
    throw AhpError.sessionNotFound(session)
  }
  if (host.channels.has(uri) && !host.has('usedChatUriAccepted')) throw AhpError.alreadyExists(uri)
  if (host.has('chatsUnderSession') && !uri.endsWith(`/${encoded(session)}`))
    throw AhpError.invalidParams(uri)
  const summary = newChat(host, session, uri, initialContent(host, session, source))
  const added = actionOf('session/chatAdded', { summary })
  if (host.has('chatAddedLate')) setImmediate(() => host.append(session, added))
  else host.append(session, added)
  return null
}

export function disposeChat(host: WrongLog, uri: Uri): null {
  const session = host.owners.get(uri)
  if (session === undefined) throw AhpError.notFound(uri)
  if (!host.has('disposedChatReadable')) host.channels.delete(uri)
  host.owners.delete(uri)
  if (!host.has('chatRemovedSilently')) host.append(session, actionOf('session/chatRemoved', { chat: uri }))
  return null
}

export function disposeChats(host: WrongLog, session: Uri): void {
  for (const [chat, owner] of host.owners)
    if (owner === session) {
      host.owners.delete(chat)
      if (!host.has('chatsOutliveSession')) host.channels.delete(chat)
    }
}

/** The chat state that a subscriber gets: with the last `wanted` turns only, or with all. */
export function viewOf(host: WrongLog, state: ChatState, wanted?: number): ChatState {
  const { activeTurn } = state
  const shown =
    activeTurn && host.has('snapshotLacksActiveParts')
      ? {
          ...state,
          activeTurn: { ...activeTurn, responseParts: activeTurn.responseParts.filter(needsAnswer) },
        }
      : state
  const last = wanted ?? (host.has('historyCutOff') ? 1 : undefined)
  if (last === undefined || last >= state.turns.length || host.has('viewIgnored')) return shown
  const turns = state.turns.slice(state.turns.length - last)
  return { ...shown, turns, ...(!host.has('cursorMissing') && { turnsNextCursor: String(last) }) }
}

function needsAnswer({ kind }: ResponsePart): boolean {
  return kind === 'toolCall' || kind === 'inputRequest'
}

/**
 * Sends one older turn to the caller, in an action that is not logged. The cursor is the number of turns that the
 * caller already has.
 */
export function fetchTurns(host: WrongLog, link: Subscriber, chat: Uri, cursor = '0'): object {
  const state = host.channels.get(chat)?.state as ChatState | undefined
  if (!state) throw AhpError.notFound(chat)
  if (!/^\d+$/.test(cursor) && !host.has('anyTurnsCursorAccepted')) throw AhpError.invalidParams('cursor')
  const end = state.turns.length - (Number(cursor) || 0)
  const turns = state.turns.slice(Math.max(0, end - 1), Math.max(0, end))
  const more = end > 1 && { turnsNextCursor: String(Number(cursor) + 1) }
  const action = actionOf('chat/turnsLoaded', { turns, ...more })
  const deliver = () => link.deliver({ channel: chat, action, serverSeq: ++host.seq })
  if (host.has('turnsLoadedLate')) setImmediate(deliver)
  else deliver()
  return {}
}

/** Before the chat is truncated, sends all turns to the clients that have only some of them. */
export function sendOlderTurns(host: WrongLog, chat: Uri, action: Action): void {
  if (action.type !== 'chat/truncated' || host.has('olderTurnsNotSent')) return
  const state = host.channels.get(chat)?.state as ChatState | undefined
  const { turns = [] } = state ?? {}
  for (const link of host.links)
    if (link.views.delete(chat))
      link.deliver({
        channel: chat,
        action: actionOf('chat/turnsLoaded', { turns }),
        serverSeq: ++host.seq,
      })
}

/** Reacts to an action on a chat: updates the session and runs the agent. */
export function afterChatAction(host: WrongLog, uri: Uri, action: Action): void {
  const session = host.owners.get(uri) ?? ''
  const listed = (host.channels.get(session)?.state as SessionState | undefined)?.chats
  const entry = listed?.find(({ resource }) => resource === uri)
  const state = host.channels.get(uri)?.state as ChatState
  const changes = Object.fromEntries(
    Object.entries(state).filter(
      ([key, value]) => key in chatSummaryShape && entry && value !== entry[key as keyof ChatSummary],
    ),
  )
  const named = host.has('chatUpdateRepeatsUri') && { resource: uri }
  if (Object.keys(changes).length > 0 && !host.has('chatSummaryStale'))
    host.append(session, actionOf('session/chatUpdated', { chat: uri, changes: { ...changes, ...named } }))
  if (
    action.type === 'chat/turnStarted' &&
    host.has('sessionsAtFirstTurn') &&
    host.unannounced.has(session)
  ) {
    host.append(session, actionOf('session/ready'))
    host.announce(session)
  }
  truncateForks(host, uri, action)
  updateInputNeeded(host, session, uri)
  const { activeTurn } = state
  if (action.type === 'chat/turnStarted' && activeTurn)
    runAgent(host, uri, activeTurn.id, activeTurn.message.text)
  continueTurn(host, uri, action)
  startQueuedTurn(host, uri, action)
}
