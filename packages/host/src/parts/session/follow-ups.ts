import { catalogOf } from '../../catalog/catalog.ts'
import { listChangesOf } from '../../catalog/session-list/list-changes.ts'
import { departuresOf } from '../../catalog/departures.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionAction } from '@atrium/protocol/session/actions'
import { Flag, hasFlag } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { announce } from '../../catalog/announce.ts'
import { savePermission } from '../tools/approval.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { FollowUps } from '../../kernel/rules.ts'
import type { Dispatcher } from '../../kernel/log/options.ts'
import { failCallsOf, checkClientOffers, checkClientPresent } from '../tools/client-tools.ts'
import { entryOf, sessionOf } from '../../catalog/lookup.ts'
import { movableChange } from '../chat/movable.ts'
import { defaultChatChanged } from './default-chat.ts'
import { inputNeededChanges } from './input-needed.ts'
import { nextTurn } from '../chat/queued-messages.ts'
import { activityOf, chatChanges } from '../../catalog/summary.ts'
import { applyDeferred, rememberSelection } from './selection.ts'
import { titleOf } from './title.ts'
import { cancelWorkers } from '../chat/workers.ts'

/** What follows from the actions of sessions and of their chats, in this order. */
export const sessionFollowUps: FollowUps = { chat: chatActed, session: sessionActed }

function chatActed(core: Core, chat: Channel<'chat'>, action: ChatAction, by: Dispatcher | undefined): void {
  const session = sessionOf(core, chat.uri)
  if (!session) return
  if (needsAttention.has(action.type)) markUnread(core, session)
  if (action.type === 'chat/toolCallConfirmed' && by)
    savePermission({ core, session, chat }, action, by.clientId)
  if (action.type === 'chat/turnStarted') {
    setTitle(core, session, chat.uri, action.message.text)
    rememberSelection(core, session, action.message)
  }
  if (!stateOf(chat).activeTurn) turnEnded(core, session, chat, action)
  const movable = movableChange(session.head, stateOf(chat), by ? undefined : action)
  if (movable !== undefined) append(core, chat, { type: 'chat/movableChanged', movable })
  const entry = entryOf(session, chat.uri)
  const changes = entry && chatChanges(entry, stateOf(chat))
  if (changes) append(core, session, { type: 'session/chatUpdated', chat: chat.uri, changes })
  for (const change of inputNeededChanges(session.head, stateOf(chat))) append(core, session, change)
  if (action.type === 'chat/toolCallStart') checkClientOffers({ core, session, chat }, action)
  if (action.type === 'chat/toolCallReady' || action.type === 'chat/toolCallConfirmed')
    checkClientPresent({ core, session, chat }, action)
  const { activeTurn, queuedMessages, turns, draft, steeringMessage } = stateOf(chat)
  core.jobs.mark(chat.uri, activeTurn !== undefined || queuedMessages !== undefined)
  if (activeTurn ?? queuedMessages ?? turns[0] ?? draft ?? steeringMessage) announce(core, session)
}

function sessionActed(
  core: Core,
  session: Channel<'session'>,
  action: SessionAction,
  by: Dispatcher | undefined,
): void {
  if (action.type === 'session/titleChanged' && by) catalogOf(core).titleSet(session.uri)
  if (action.type === 'session/defaultChatChanged' && by) defaultChatChanged(core, session)
  if (action.type === 'session/activeClientSet')
    departuresOf(core).join(action.activeClient.clientId, session.uri)
  if (action.type === 'session/activeClientRemoved') clientRemoved(core, session, action.clientId)
  const state = session.head
  const activity = activityOf(state)
  if (state.activity !== activity)
    append(core, session, compact<SessionAction>({ type: 'session/activityChanged', activity }))
  core.jobs.mark(session.uri, state.lifecycle === 'creating')
  if (catalogOf(core).creatorOf(session.uri) === undefined)
    listChangesOf(core).changed(session.uri, core.log.last)
  catalogOf(core).save(session.uri, session.head)
  if (state.title !== '') announce(core, session)
}

/**
 * Fails the running calls of the tools that a client provided, when the client is not active any more. No other client can
 * run them.
 */
function clientRemoved(core: Core, session: Channel<'session'>, clientId: string): void {
  if (catalogOf(core).creatorOf(session.uri) !== clientId) departuresOf(core).leave(clientId, session.uri)
  failCallsOf(core, session, clientId)
}

/** Stops the agent and its workers after the end of a turn, and starts the next pending message. */
function turnEnded(core: Core, session: Channel<'session'>, chat: Channel<'chat'>, action: ChatAction): void {
  core.jobs.stop(chat.uri)
  if (endsTurn.has(action.type)) cancelWorkers(core, session, chat.uri)
  if (stateOf(chat).activity !== undefined && endsTurn.has(action.type))
    append(core, chat, { type: 'chat/activityChanged' })
  applyDeferred(core, session)
  for (const next of nextTurn(stateOf(chat), action, core.world)) append(core, chat, next)
}

/** Gives an untitled chat a title made from a message. An untitled session gets the title if the chat is its default chat. */
function setTitle(core: Core, session: Channel<'session'>, chat: Uri, text: string): void {
  const title = titleOf(text)
  if (title === '') return
  if (entryOf(session, chat)?.title === '')
    append(core, session, { type: 'session/chatUpdated', chat, changes: { title } })
  const { title: sessionTitle, defaultChat } = session.head
  if (sessionTitle === '' && chat === defaultChat)
    append(core, session, { type: 'session/titleChanged', title })
}

/** Marks a session as unread. The reducer of chats marks the chat itself. */
function markUnread(core: Core, session: Channel<'session'>): void {
  if (hasFlag(session.head.status, Flag.IsRead))
    append(core, session, { type: 'session/isReadChanged', isRead: false })
}

function append(core: Core, channel: Channel, action: ChatAction | SessionAction): void {
  core.log.append(channel, action)
}

function stateOf(chat: Channel<'chat'>): ChatState {
  return chat.head
}

const needsAttention = new Set(['chat/turnStarted', 'chat/turnResume', 'chat/inputRequested'])
const endsTurn = new Set(['chat/turnComplete', 'chat/turnCancelled', 'chat/error', 'chat/truncated'])
