import type { LinkStatus } from '@atrium/client/link/reconnect'
import { heldMessages } from '@atrium/protocol/chat/queue'
import type { ChatState } from '@atrium/protocol/chat/state'
import { sanitize } from '../terminal/output.ts'
import { spinner } from './spinner.ts'

interface Status {
  readonly link: LinkStatus
  readonly chat?: ChatState
  /** Whether a prompt is hidden, because the user is typing a line. */
  readonly promptHidden: boolean
  /** The names of the other active clients, separated by commas. */
  readonly others: string
}

/** Returns the status row of `attach`: the link, the activity, the queue, and the other clients. */
export function statusRow({ link, chat, promptHidden, others }: Status): string {
  if (link.state !== 'live') return `the host is away; trying again · ${sanitize(link.reason ?? '')}`
  const { activeTurn, activity = 'working', queuedMessages = [] } = chat ?? {}
  const held = chat ? heldMessages(chat).length : 0
  const queued = held > 0 ? `${held} queued, held: /next starts them` : `${queuedMessages.length} queued`
  return [
    activeTurn ? spinner(sanitize(activity), activeTurn.startedAt) : 'idle',
    ...(promptHidden ? ['a question waits for the end of your line'] : []),
    ...(held > 0 || queuedMessages.length > 0 ? [queued] : []),
    ...(others === '' ? [] : [`also here: ${others}`]),
  ].join(' · ')
}
