import type { Envelope } from '@atrium/protocol/channel'
import { member, textMember } from '../chat/shared/member.ts'
import { visibleText } from '../chat/shared/text.ts'

/** A sentence for each action type. */
const words: ReadonlyMap<string, string> = new Map([
  ['chat/turnStarted', 'A message was sent'],
  ['chat/delta', 'The agent wrote'],
  ['chat/reasoning', 'The agent thought'],
  ['chat/responsePart', 'A part of the answer began'],
  ['chat/usage', 'The usage was counted'],
  ['chat/turnComplete', 'The turn ended'],
  ['chat/turnCancelled', 'The turn was cancelled'],
  ['chat/turnResume', 'The turn was resumed'],
  ['chat/error', 'The turn failed'],
  ['chat/truncated', 'Later turns were removed'],
  ['chat/toolCallStart', 'A tool call began'],
  ['chat/toolCallDelta', 'The input of a tool call grew'],
  ['chat/toolCallReady', 'A tool call was ready'],
  ['chat/toolCallComplete', 'A tool call ended'],
  ['chat/toolCallContentChanged', 'A tool call showed output'],
  ['chat/inputRequested', 'The agent asked'],
  ['chat/inputAnswerChanged', 'An answer was changed'],
  ['chat/inputCompleted', 'The questions were answered'],
  ['chat/pendingMessageSet', 'A message was queued'],
  ['chat/pendingMessageRemoved', 'A message left the queue'],
  ['chat/activityChanged', 'The activity changed'],
  ['chat/isReadChanged', 'The read mark changed'],
  ['chat/isArchivedChanged', 'The archive mark changed'],
])

/** An action in words, such as "A tool call was allowed". */
export function actionWords({ action }: Envelope): string {
  const { type } = action
  const verdict = member(action, 'approved') === true ? 'allowed' : 'denied'
  if (type === 'chat/toolCallConfirmed') return `A tool call was ${verdict}`
  if (type === 'chat/toolCallResultConfirmed') return `The result of a tool call was ${verdict}`
  return words.get(type) ?? visibleText(type)
}

/**
 * Who made an action, in words. For a decision this is the client that the host has recorded. Otherwise it is the
 * host, this page, or a client by its id.
 */
export function authorOf({ origin, action }: Envelope, ownId: string): string {
  const decided = decisionIn(action)
  const name = nameOf(decided)
  if (name !== undefined && action.type.endsWith('Confirmed')) return name
  if (!origin) return 'by the host'
  return origin.clientId === ownId ? 'by this page' : `by client ${visibleText(origin.clientId.slice(0, 8))}`
}

/** The time of an action. Only some actions have one. */
export function timeOf({ action }: Envelope): string | undefined {
  if (action.type.endsWith('Confirmed')) return textMember(decisionIn(action), 'at')
  return textMember(action, 'startedAt')
}

function decisionIn(action: Envelope['action']): unknown {
  const own = member(member(action, '_meta'), 'x-atrium')
  return member(own, action.type === 'chat/toolCallResultConfirmed' ? 'resultDecidedBy' : 'decidedBy')
}

/** Who decided, with the device, as in "by Chrome on Linux (owner), device Phone". Undefined if it is not recorded. */
export function nameOf(decided: unknown): string | undefined {
  const permission = member(decided, 'permission')
  if (permission !== undefined) {
    const folder = textMember(permission, 'folder')
    return `by a permission for ${folder === undefined ? 'this session' : visibleText(folder.replace(/^file:\/\//, ''))}`
  }
  const principal = textMember(decided, 'principal')
  if (principal === undefined) return undefined
  const client = member(decided, 'client')
  const name =
    textMember(client, 'title') ??
    textMember(client, 'name') ??
    `client ${textMember(decided, 'clientId')?.slice(0, 8) ?? ''}`
  const device = textMember(decided, 'device')
  const from = device === undefined ? '' : `, device ${visibleText(device)}`
  return `by ${visibleText(name)} (${visibleText(principal)})${from}`
}
