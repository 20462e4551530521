import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatSource } from '@atrium/protocol/chat/commands'
import type { ChatOrigin, ChatState, Turn } from '@atrium/protocol/chat/state'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { sessionUri } from '@atrium/protocol/uri'
import type { WrongLog } from './wrong-log.ts'

/** What a chat begins with that is made from a turn of another. */
export interface Beginning {
  readonly origin?: ChatOrigin
  readonly turns: readonly Turn[]
}

export function beginningOf(host: WrongLog, session: Uri, source?: ChatSource): Beginning {
  if (!source) return { turns: [] }
  const { kind, chat, turnId } = source
  const known = kind === 'fork' || kind === 'sideChat'
  const state = host.channels.get(chat)?.state as ChatState | undefined
  const at =
    host.owners.get(chat) === session ? (state?.turns.findIndex(({ id }) => id === turnId) ?? -1) : -1
  if ((!known || at < 0) && !host.has('anySource')) throw AhpError.invalidParams('source')
  const origin = host.has('originLost') ? ({ kind: 'user' } as const) : source
  if (kind === 'sideChat' && !host.has('sideChatFull')) return { origin, turns: [] }
  return { origin, turns: state?.turns.slice(0, host.has('forkShort') ? at : at + 1) ?? [] }
}

/** One chat is cut, and with it those that were made from it. */
export function cutForks(host: WrongLog, uri: Uri, action: Action): void {
  if (action.type !== 'chat/truncated' || !host.has('forkShared')) return
  for (const [fork, { state }] of host.channels) {
    const { origin } = state as Partial<ChatState>
    if (origin?.kind === 'fork' && origin.chat === uri) host.append(fork, action)
  }
}

export function moveChat(host: WrongLog, { channel: chat, destination }: Params<'moveChat'>): object {
  if (host.has('moveless')) throw AhpError.methodNotFound('moveChat')
  const from = host.owners.get(chat)
  if (from === undefined) throw AhpError.notFound(chat)
  const { defaultChat, chats } = stateOf(host, from)
  const summary = chats.find(({ resource }) => resource === chat)
  if ((defaultChat === chat && !host.has('defaultMoved')) || !summary) throw AhpError.conflict('not movable')
  const to = destination.kind === 'session' ? destination.session : newSession(host, from)
  const others = stateOf(host, to).chats.flatMap(({ resource }) => (resource === chat ? [] : [resource]))
  const after = destination.kind === 'session' ? destination.after : undefined
  const at = others.findIndex((uri) => uri === after)
  if (after !== undefined && at < 0 && !host.has('anyAnchor')) throw AhpError.invalidParams('after')
  if (to !== from) {
    if (!host.has('movedTwice')) host.append(from, { type: 'session/chatRemoved', chat } as Action)
    host.owners.set(chat, to)
    if (destination.kind === 'session' || !host.has('newSessionEmpty'))
      host.append(to, { type: 'session/chatAdded', summary } as Action)
  }
  const order = [...others.slice(0, at + 1), chat, ...others.slice(at + 1)]
  if (!host.has('orderIgnored') || to !== from)
    host.append(to, { type: 'session/chatsReordered', chats: order } as Action)
  return { session: to }
}

function newSession(host: WrongLog, like: Uri): Uri {
  const uri = sessionUri(String(++host.seq))
  const { defaultChat: _, ...state } = stateOf(host, like)
  host.channels.set(uri, { kind: 'session', state: { ...state, chats: [] } })
  const now = new Date().toISOString()
  host.summaries.set(uri, {
    provider: state.provider,
    title: '',
    status: 1,
    resource: uri,
    createdAt: now,
    modifiedAt: now,
  })
  host.announce(uri)
  return uri
}

function stateOf(host: WrongLog, session: Uri): SessionState {
  const { kind, state } = host.channels.get(session) ?? {}
  if (kind !== 'session') throw AhpError.sessionNotFound(session)
  return state as SessionState
}
