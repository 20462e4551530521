import type { LinkStatus } from '@atrium/client/link/reconnect'
import type { ChatState } from '@atrium/protocol/chat/state'
import { harmless } from '../terminal/output.ts'
import { spinning } from './spinner.ts'

interface Standing {
  readonly link: LinkStatus
  readonly chat?: ChatState
  /** A question waits, because a line is being typed. */
  readonly asked: boolean
  /** Who else is here, in words. */
  readonly others: string
}

/** How a session stands, in one row: whether its host is there, what goes on, what waits, and who is here. */
export function statusRow({ link, chat, asked, others }: Standing): string {
  if (link.state !== 'live') return `the host is away; trying again · ${harmless(link.reason ?? '')}`
  const { activeTurn, activity = 'working', queuedMessages = [] } = chat ?? {}
  return [
    activeTurn ? spinning(harmless(activity), activeTurn.startedAt) : 'idle',
    ...(asked ? ['a question waits for the end of your line'] : []),
    ...(queuedMessages.length > 0 ? [`${queuedMessages.length} queued`] : []),
    ...(others === '' ? [] : [`also here: ${others}`]),
  ].join(' · ')
}
