import type { Uri } from '@atrium/protocol/channel'
import { isQueueHeld } from '@atrium/protocol/chat/queue'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { ErrorInfo, UsageInfo } from '@atrium/protocol/common/content'
import { primaryChat } from '@atrium/protocol/session/primary-chat'
import { Activity, activityOf } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { wakeIfSound } from '../../channels/wake.ts'
import { lengthOf } from '../../kernel/log/rows.ts'
import type { Core } from '../../kernel/core.ts'

/** How the session of a run has ended. */
export type Outcome =
  | { readonly status: 'completed'; readonly usage?: UsageInfo | undefined }
  | { readonly status: 'failed'; readonly error: ErrorInfo }
  | { readonly status: 'cancelled' }

/**
 * The outcome of a session that belongs to a run. Undefined while something is at work there: a turn, a worker, a message that
 * waits for its turn, background work. What counts is the last turn of the default chat.
 */
export function outcomeOf(core: Core, uri: Uri): Outcome | undefined {
  const session = core.log.channel(uri, 'session')?.head
  if (!session || session.lifecycle === 'creating') return undefined
  if (session.creationError) return { status: 'failed', error: session.creationError }
  const chats = session.chats.map(({ resource }) => core.log.channel(resource, 'chat')?.head)
  if (session.chats.some(({ status }) => isBusy(status)) || chats.some((chat) => chat && isAtWork(chat)))
    return undefined
  const primary = core.log.channel(primaryChat(session) ?? '', 'chat')?.head
  const last = primary?.turns.at(-1)
  if (last?.state === 'error') return { status: 'failed', error: errorOf(last) }
  if (last?.state !== 'complete') return { status: 'cancelled' }
  return { status: 'completed', usage: sum(chats.flatMap((chat) => chat?.turns ?? [])) }
}

/**
 * Resumes the turn of a run that a stop of the host has interrupted. Returns whether it goes on; undefined if the session is
 * gone.
 */
export async function isResumed(core: Core, uri: Uri): Promise<boolean | undefined> {
  const session = await wakeIfSound(core, uri)
  if (!session?.is('session')) return undefined
  const chat = await wakeIfSound(core, primaryChat(session.head) ?? '')
  if (!chat?.is('chat') || chat.head.activeTurn) return chat !== undefined
  const last = chat.head.turns.at(-1)
  const part = last?.responseParts.at(-1)
  const resumable =
    part?.kind === 'error' && part.resumable === true && part.error.errorType === 'interrupted'
  if (!last || last.state !== 'error' || !resumable || lengthOf(last) > core.limits.stateLength) return false
  core.log.append(chat, { type: 'chat/turnResume', turnId: last.id })
  return true
}

function isBusy(status: number): boolean {
  const activity = activityOf(status)
  return activity === Activity.InProgress || activity === Activity.InputNeeded
}

function isAtWork(chat: ChatState): boolean {
  const { activeTurn, queuedMessages = [], backgroundWork = [] } = chat
  return (
    activeTurn !== undefined || backgroundWork.length > 0 || (queuedMessages.length > 0 && !isQueueHeld(chat))
  )
}

function errorOf({ responseParts }: Turn): ErrorInfo {
  const part = responseParts.at(-1)
  return part?.kind === 'error' ? part.error : { errorType: 'turn', message: 'The turn failed.' }
}

/** The tokens of all turns. Undefined if no agent has counted any. */
function sum(turns: readonly Turn[]): UsageInfo | undefined {
  const counted = turns.flatMap(({ usage }) => usage ?? [])
  const total = (key: 'inputTokens' | 'outputTokens' | 'cacheReadTokens') => {
    const values = counted.flatMap((usage) => usage[key] ?? [])
    return values.length > 0 ? values.reduce((a, b) => a + b) : undefined
  }
  if (counted.length === 0) return undefined
  return compact<UsageInfo>({
    inputTokens: total('inputTokens'),
    outputTokens: total('outputTokens'),
    cacheReadTokens: total('cacheReadTokens'),
  })
}
