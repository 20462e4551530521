import { primaryChat } from '../../session/primary-chat.ts'
import { activityMask } from '../../status.ts'
import type { Member } from '../difference.ts'
import { rebuild } from '../lens.ts'
import type { StateContext } from '../lens.ts'
import { listOf, omit, put, shapeOf } from '../shape.ts'
import type { Shape } from '../shape.ts'

/** The keys of a chat that are keys of its session up to 0.3. */
const turnKeys = ['turns', 'activeTurn', 'steeringMessage', 'queuedMessages', 'inputRequests']

/** The entry of the chat that clients of 0.3 and below see as the session. */
function primaryEntry(session: Shape): Shape {
  const primary = primaryChat(session)
  return shapeOf(listOf(session, 'chats').find((chat) => shapeOf(chat)['resource'] === primary))
}

/** Merges a session and the chat that represents it into one state. The other chats of the session are left out. */
export function mergedDown(session: Shape, context: StateContext | undefined): Shape {
  const chat = shapeOf(context?.chat)
  const summary = shapeOf(session['summary'])
  const { status = summary['status'] } = context?.chat ? chat : primaryEntry(session)
  return {
    ...omit(session, 'chats', 'defaultChat'),
    summary: put(omit(summary, 'annotations'), { status: statusOf(summary['status'], status) }),
    ...turnsOf(chat),
  }
}

/** Translates a chat that does not represent its session to a session of its own. */
export function chatAsSession(chat: Shape, context: StateContext | undefined): Shape {
  const { provider = '', createdAt, workingDirectory } = shapeOf(context?.summary)
  const { resource, title, status, modifiedAt } = chat
  const summary = {
    resource,
    provider,
    title,
    status,
    createdAt,
    workingDirectory,
    modifiedAt: Date.parse(String(modifiedAt)) || 0,
    ...('workingDirectory' in chat && { workingDirectory: chat['workingDirectory'] }),
  }
  return { summary: put({}, summary), lifecycle: 'ready', ...turnsOf(chat) }
}

function turnsOf(chat: Shape): Shape {
  return {
    turns: [],
    ...Object.fromEntries(turnKeys.flatMap((key) => (key in chat ? [[key, chat[key]] as const] : []))),
  }
}

/**
 * Returns the flags of the session with the activity of its chat. The reducers up to 0.3 compute the activity from
 * the turns.
 */
function statusOf(session: unknown, chat: unknown): number {
  return ((Number(session) & ~activityMask) | (Number(chat) & activityMask)) >>> 0
}

/**
 * The part of a session that changes with the list of chats: the chat that represents the session. 0.3 has no action
 * that replaces all turns by those of another chat, so the client gets a new snapshot.
 */
export const chatListMembers: readonly Member[] = [{ read: primaryChat, set: () => rebuild }]
