import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { Message } from '@atrium/protocol/chat/message'
import type { ChatInteractivity, ChatOrigin, ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import { Activity } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { sleepWhenIdle } from '../../channels/sleep.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { publishCopy } from './copy-turns.ts'

/** The members of a new chat's summary that its creator chooses. */
export interface ChatOptions {
  readonly title?: string
  readonly origin: ChatOrigin
  readonly interactivity?: ChatInteractivity
  readonly movable?: boolean
  readonly workingDirectories?: readonly Uri[] | undefined
}

export function newSummary(core: Core, resource: Uri, { title = '', ...options }: ChatOptions): ChatSummary {
  const modifiedAt = new Date(core.world.now()).toISOString()
  return compact<ChatSummary>({ resource, title, status: Activity.Idle, modifiedAt, ...options })
}

/** Makes the first state of a chat: its summary, and no turns. */
export function firstState(summary: ChatSummary): ChatState {
  return { ...summary, turns: [] }
}

/**
 * Creates the channel of a chat. `copied` is the channel of a fork that clients do not see yet: it has turns already,
 * and is only made visible.
 */
export function newChat(
  core: Core,
  session: Uri,
  summary: ChatSummary,
  copied?: Channel<'chat'>,
): Channel<'chat'> {
  catalogOf(core).chatIndex.add(summary.resource, session)
  if (copied) return publishCopy(core, copied)
  const chat = core.log.create(summary.resource, 'chat', firstState(summary))
  sleepWhenIdle(core, chat)
  return chat
}

/** Creates a chat and adds it to its session. */
export function addChat(
  core: Core,
  session: Channel<'session'>,
  summary: ChatSummary,
  copied?: Channel<'chat'>,
): { readonly chat: Channel<'chat'>; readonly seq: number } {
  const chat = newChat(core, session.uri, summary, copied)
  return { chat, seq: core.log.append(session, { type: 'session/chatAdded', summary }).last }
}

/** Appends the start of a chat's first turn. */
export function sendFirstMessage(
  core: Core,
  chat: Channel<'chat'>,
  message: Message,
): { readonly seq: number; readonly turnId: string } {
  const turnId = core.world.id()
  const startedAt = new Date(core.world.now()).toISOString()
  const action: ChatAction = { type: 'chat/turnStarted', turnId, startedAt, message }
  return { seq: core.log.append(chat, action).last, turnId }
}

export function tooManyChats({ limits }: Core): string {
  return `a session has at most ${limits.chats} chats`
}
