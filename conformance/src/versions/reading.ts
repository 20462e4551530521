import type { Version } from '@atrium/protocol/versions/negotiate'
import { listOf, shapeOf, textOf } from '@atrium/protocol/versions/shape'
import type { Shape } from '@atrium/protocol/versions/shape'
import { isSince } from './speaker.ts'

/** What every version can show of a turn, in one form. `state` is absent while the turn is active. */
export interface SeenTurn {
  readonly id: string
  readonly text: string | undefined
  readonly state: string | undefined
  /** The text of the answer. */
  readonly answer: string
  readonly calls: readonly SeenCall[]
  /** The answered requests of the turn. Up to 0.5.1 a turn does not keep them. */
  readonly responses: readonly { readonly id: string; readonly response: string }[]
}

export interface SeenCall {
  readonly id: string
  readonly status: string
  readonly confirmed: string | undefined
}

export interface SeenMessage {
  readonly id: string
  readonly text: string | undefined
}

export interface SeenCustomization {
  /** What names the customization in an action: a URI in 0.1, later an id. */
  readonly key: string
  readonly name: string
  readonly enabled: boolean
}

/** The title of a session, which stands in its summary up to 0.4. */
export function titleIn(version: Version, session: Shape): string | undefined {
  return textOf(isSince(version, '0.5.0') ? session : shapeOf(session['summary']), 'title')
}

export function turnsIn(version: Version, conversation: Shape): readonly SeenTurn[] {
  return listOf(conversation, 'turns').map((turn) => turnOf(version, shapeOf(turn)))
}

export function activeTurnIn(version: Version, conversation: Shape): SeenTurn | undefined {
  const active = conversation['activeTurn']
  return active === undefined || active === null ? undefined : turnOf(version, shapeOf(active))
}

function turnOf(version: Version, turn: Shape): SeenTurn {
  const parts = listOf(turn, 'responseParts').map(shapeOf)
  return {
    id: textOf(turn, 'id') ?? '',
    text: messageIn(version, turn),
    state: textOf(turn, 'state'),
    answer: parts
      .map((part) => (part['kind'] === 'markdown' ? (textOf(part, 'content') ?? '') : ''))
      .join(''),
    calls: parts.flatMap((part) => (part['kind'] === 'toolCall' ? [callOf(shapeOf(part['toolCall']))] : [])),
    responses: parts.flatMap((part) => {
      const response = textOf(part, 'response')
      const id = textOf(shapeOf(part['request']), 'id') ?? ''
      return part['kind'] === 'inputRequest' && response !== undefined ? [{ id, response }] : []
    }),
  }
}

/** The text of the message of a turn, of a queued message, or of an action. */
export function messageIn(version: Version, holder: Shape): string | undefined {
  return textOf(shapeOf(holder[messageKey(version)]), 'text')
}

/** The key that holds a message. Since 0.3 a message has an origin and another key. */
export function messageKey(version: Version): string {
  return isSince(version, '0.3.0') ? 'message' : 'userMessage'
}

function callOf(call: Shape): SeenCall {
  const [id = '', status = ''] = ['toolCallId', 'status'].map((key) => textOf(call, key))
  return { id, status, confirmed: textOf(call, 'confirmed') }
}

/** The request that waits for an answer. Up to 0.5.2 it is in a list of the conversation, since 0.6 in the active turn. */
export function openRequestIn(version: Version, conversation: Shape): Shape | undefined {
  if (!isSince(version, '0.6.0')) return listOf(conversation, 'inputRequests').map(shapeOf).at(0)
  const parts = listOf(shapeOf(conversation['activeTurn']), 'responseParts').map(shapeOf)
  const open = parts.find((part) => part['kind'] === 'inputRequest' && part['response'] === undefined)
  return open && shapeOf(open['request'])
}

export function queueIn(version: Version, conversation: Shape): readonly SeenMessage[] {
  return listOf(conversation, 'queuedMessages').map((message) => pendingOf(version, shapeOf(message)))
}

export function steeringIn(version: Version, conversation: Shape): SeenMessage | undefined {
  const message = conversation['steeringMessage']
  return message === undefined || message === null ? undefined : pendingOf(version, shapeOf(message))
}

function pendingOf(version: Version, message: Shape): SeenMessage {
  return { id: textOf(message, 'id') ?? '', text: messageIn(version, message) }
}

/** The customizations at the top level of a session, without MCP servers, which 0.2 does not show. */
export function customizationsIn(version: Version, session: Shape): readonly SeenCustomization[] {
  const entries = listOf(session, 'customizations').map(shapeOf)
  if (isSince(version, '0.2.0'))
    return entries
      .filter(({ type }) => type !== 'mcpServer')
      .map((entry) => ({ ...keyed(entry, 'id', 'name'), enabled: isEnabled(version, entry) }))
  return entries.map((entry) => ({
    ...keyed(shapeOf(entry['customization']), 'uri', 'displayName'),
    enabled: entry['enabled'] === true,
  }))
}

function keyed(entry: Shape, key: string, name: string): { key: string; name: string } {
  return { key: textOf(entry, key) ?? '', name: textOf(entry, name) ?? '' }
}

/**
 * Tells whether a customization is enabled. Since 0.8 a plugin has a list `enablement`, whose first entry counts. A
 * plugin with an empty list is enabled.
 */
function isEnabled(version: Version, entry: Shape): boolean {
  if (!isSince(version, '0.8.0') || entry['type'] !== 'plugin') return entry['enabled'] === true
  const [decision] = listOf(entry, 'enablement').map(shapeOf)
  return decision === undefined || decision['enabled'] === true
}

export interface SeenChat {
  readonly resource: string
  readonly origin: string | undefined
}

/** The chats of a session, since 0.4. */
export function chatsIn(session: Shape): readonly SeenChat[] {
  return listOf(session, 'chats')
    .map(shapeOf)
    .map((chat) => ({
      resource: textOf(chat, 'resource') ?? '',
      origin: textOf(shapeOf(chat['origin']), 'kind'),
    }))
}
