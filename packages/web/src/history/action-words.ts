import type { Envelope } from '@atrium/protocol/channel'
import { member, textMember } from '../chat/shared/member.ts'
import { visibleText } from '../chat/shared/text.ts'

/** A sentence for each action type whose fields do not matter. */
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
  ['chat/toolCallAuthRequired', 'A tool call needed a sign-in'],
  ['chat/toolCallAuthResolved', 'The sign-in of a tool call ended'],
  ['chat/pendingMessageRemoved', 'A waiting message was taken or removed'],
  ['chat/queuedMessagesReordered', 'The queue was reordered'],
  ['chat/activityChanged', 'The activity changed'],
  ['chat/isReadChanged', 'The read mark changed'],
  ['chat/isArchivedChanged', 'The archive mark changed'],
  ['chat/movableChanged', 'It changed whether the chat can be moved'],
  ['chat/backgroundWorkSet', 'Work in the background began or changed'],
  ['chat/backgroundWorkRemoved', 'Work in the background ended'],
  ['chat/changesetsChanged', 'The list of changes was updated'],
  ['chat/canvasesChanged', 'A server of a command began or ended'],
  ['chat/workingDirectorySet', 'A folder was added'],
  ['chat/workingDirectoryRemoved', 'A folder was removed'],
])

/** How the words of an action depend on one of its fields. */
interface Choice {
  readonly field: string
  readonly values: { readonly [value: string]: string }
  /** The words for an action without the field. The host leaves out the content of an action that is too long. */
  readonly otherwise: string
}

const choices: ReadonlyMap<string, Choice> = new Map([
  [
    'chat/toolCallConfirmed',
    {
      field: 'approved',
      values: { true: 'A tool call was allowed', false: 'A tool call was denied' },
      otherwise: 'A tool call was decided',
    },
  ],
  [
    'chat/toolCallResultConfirmed',
    {
      field: 'approved',
      values: {
        true: 'The result of a tool call was allowed',
        false: 'The result of a tool call was denied',
      },
      otherwise: 'The result of a tool call was decided',
    },
  ],
  [
    'chat/inputCompleted',
    {
      field: 'response',
      values: {
        accept: 'The questions were answered',
        decline: 'The questions were declined',
        cancel: 'The questions were cancelled',
      },
      otherwise: 'The questions were closed',
    },
  ],
  [
    'chat/pendingMessageSet',
    {
      field: 'kind',
      values: { queued: 'A message was queued', steering: 'A message was sent to go into a turn' },
      otherwise: 'A message began to wait',
    },
  ],
])

/** An action in words, such as "A tool call was allowed". */
export function actionWords({ action }: Envelope): string {
  const choice = choices.get(action.type)
  if (choice) return choice.values[String(member(action, choice.field))] ?? choice.otherwise
  return words.get(action.type) ?? 'Something else changed'
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
