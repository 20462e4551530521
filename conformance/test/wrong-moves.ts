import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatSource } from '@atrium/protocol/chat/commands'
import type { ChatOrigin, ChatState, Turn } from '@atrium/protocol/chat/state'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { sessionUri } from '@atrium/protocol/uri'
import { actionOf } from '../src/kit/action.ts'
import type { WrongLog } from './wrong-log.ts'

/** The origin and the first turns of a new chat. A chat created from a turn of another chat may copy turns of that chat. */
export interface InitialContent {
  readonly origin?: ChatOrigin
  readonly turns: readonly Turn[]
}

export function initialContent(host: WrongLog, session: Uri, source?: ChatSource): InitialContent {
  if (!source) return { turns: [] }
  const { kind, chat, turnId } = source
  const known = kind === 'fork' || kind === 'sideChat'
  const state = host.channels.get(chat)?.state as ChatState | undefined
  const at =
    host.owners.get(chat) === session ? (state?.turns.findIndex(({ id }) => id === turnId) ?? -1) : -1
  if ((!known || at < 0) && !host.has('anySourceAccepted')) throw AhpError.invalidParams('source')
  const origin = host.has('originLost') ? ({ kind: 'user' } as const) : source
  if (kind === 'sideChat' && !host.has('sideChatHasTurns')) return { origin, turns: [] }
  return { origin, turns: state?.turns.slice(0, host.has('forkLacksTurn') ? at : at + 1) ?? [] }
}

/** If the host has the fault `forkSharesTruncation`, truncates the forks of a chat together with the chat. */
export function truncateForks(host: WrongLog, uri: Uri, action: Action): void {
  if (action.type !== 'chat/truncated' || !host.has('forkSharesTruncation')) return
  for (const [fork, { state }] of host.channels) {
    const { origin } = state as Partial<ChatState>
    if (origin?.kind === 'fork' && origin.chat === uri) host.append(fork, action)
  }
}

export function moveChat(host: WrongLog, { channel: chat, destination }: Params<'moveChat'>): object {
  if (host.has('noMoves')) throw AhpError.methodNotFound('moveChat')
  const from = host.owners.get(chat)
  if (from === undefined) throw AhpError.notFound(chat)
  const { defaultChat, chats } = stateOf(host, from)
  const summary = chats.find(({ resource }) => resource === chat)
  if ((defaultChat === chat && !host.has('defaultMoved')) || !summary) throw AhpError.conflict('not movable')
  const to = destination.kind === 'session' ? destination.session : newSession(host, from)
  const others = stateOf(host, to).chats.flatMap(({ resource }) => (resource === chat ? [] : [resource]))
  const after = destination.kind === 'session' ? destination.after : undefined
  const at = others.findIndex((uri) => uri === after)
  if (after !== undefined && at < 0 && !host.has('anyAnchorAccepted')) throw AhpError.invalidParams('after')
  if (to !== from) {
    if (!host.has('movedButNotRemoved')) host.append(from, actionOf('session/chatRemoved', { chat }))
    host.owners.set(chat, to)
    if (destination.kind === 'session' || !host.has('newSessionLacksChat'))
      host.append(to, actionOf('session/chatAdded', { summary }))
  }
  const order = [...others.slice(0, at + 1), chat, ...others.slice(at + 1)]
  if (!host.has('moveOrderIgnored') || to !== from)
    host.append(to, actionOf('session/chatsReordered', { chats: order }))
  return { session: to }
}

function newSession(host: WrongLog, template: Uri): Uri {
  const uri = sessionUri(String(++host.seq))
  const { defaultChat: _, ...state } = stateOf(host, template)
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
