import type { Action } from '../../channel.ts'
import { isJsonObject } from '../../json.ts'
import { schemaLens } from '../config-schema.ts'
import { conversation } from '../conversation.ts'
import { byDifference } from '../difference.ts'
import { knownIn } from '../known.ts'
import type { Lens } from '../lens.ts'
import { sessionListRows } from '../session-list.ts'
import { at, each, objectChange, omit, put, shapeOf, shapeOfAction } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { one, step } from '../step.ts'
import type { LiftRow, Row } from '../step.ts'
import { changesetDown, changesetRows } from './v0-3-changeset.ts'
import { chatAsSession, chatListMembers, mergedDown } from './v0-3-session.ts'
import { ownKey } from './v0-4-session.ts'

const schemas = schemaLens((property) => omit(property, 'additionalProperties'))

const talk = conversation({ message: messageDown, call: callDown })

/** Every action of a chat of 0.4 is an action of the session at 0.3. */
const turnTypes = [...knownIn('0.4.0')].filter((name) => name.startsWith('chat/'))

const sessions = sessionListRows((summary) => omit(summary, 'annotations'))

const tables = step({
  version: '0.3.0',
  newer: '0.4.0',
  states: {
    root: (state) => omit(schemas.root(state), '_meta'),
    session: (state, context) =>
      mergedDown(schemas.configured(state), context && { ...context, chat: chatDown(context.chat) }),
    chat: (state, context) => chatAsSession(talk.chat(state), context),
    changeset: changesetDown,
  },
  actions: {
    ...Object.fromEntries(turnTypes.map((type) => [type, turnRow(type)])),
    ...changesetRows,
    'root/agentsChanged': one((action) => at(action, 'agents', each(schemas.agent))),
    'session/chatAdded': (_, context) => byDifference(chatListMembers, context),
    'session/chatRemoved': (_, context) => byDifference(chatListMembers, context),
    'session/defaultChatChanged': (_, context) => byDifference(chatListMembers, context),
    // No action is needed: the session has its own activity, and a reducer of 0.3 computes the status from the turns.
    'session/chatUpdated': () => [],
  },
  actionsUp: Object.fromEntries(turnTypes.map((type) => [sessionType(type), liftRow(type)])),
  results: {
    ...sessions.results,
    resolveSessionConfig: schemas.withSchema,
    fetchTurns: (result) => at(result, 'turns', talk.turns),
    completions: (result) =>
      at(
        result,
        'items',
        each((item) => at(item, 'attachment', objectChange(attachmentDown))),
      ),
  },
  notifications: sessions.notifications,
})

/**
 * The step from 0.4 to 0.3: a session contains the turns of its only chat. At 0.4 an action of a session has no
 * effect in the channel of a chat. At 0.3 this channel is a session, which the action would change, so it is left
 * out.
 */
export const v03: Lens = {
  ...tables,
  actionDown: (kind, action, context) =>
    kind === 'chat' && action.type.startsWith('session/') ? [] : tables.actionDown(kind, action, context),
}

function sessionType(type: string): string {
  return type.replace('chat/', 'session/')
}

/**
 * Returns the row for an action about a turn. It renames the action. It also removes `_meta`, unless the action is
 * about a tool call: at 0.3 only those actions have `_meta`.
 */
function turnRow(type: string): Row {
  const older = sessionType(type)
  const changed = talk.rows[type]
  const clean = type.startsWith('chat/toolCall') ? callDown : (action: Shape) => omit(action, '_meta')
  const renamed = (action: Action): Action => ({ ...clean(shapeOfAction(action)), type: older })
  return (action) => {
    const lowered = changed?.(action) ?? [action]
    return typeof lowered === 'string' ? lowered : lowered.map(renamed)
  }
}

function liftRow(type: string): LiftRow {
  return (action: OldAction) => ({ ...action, type })
}

function chatDown(chat: object | undefined): Shape | undefined {
  return chat && talk.chat(shapeOf(chat))
}

function messageDown(message: Shape): Shape {
  const origin = at(message, 'origin', objectChange(originDown))
  return at(origin, 'attachments', each(attachmentDown))
}

/** Replaces the origins `agent` and `tool`. Up to 0.3 a message comes from a user or from the host. */
function originDown(origin: Shape): Shape {
  const { kind } = origin
  return kind === 'agent' || kind === 'tool' ? put(origin, { kind: 'systemNotification' }) : origin
}

/** Replaces a reference to annotations by a text attachment with its label. 0.3 has no annotations. */
function attachmentDown(attachment: Shape): Shape {
  if (attachment['type'] !== 'annotations') return attachment
  const { label } = attachment
  return put(omit(attachment, 'resource', 'annotationIds'), { type: 'simple', modelRepresentation: label })
}

/**
 * Removes the host's own keys from the `_meta` of a tool call. At 0.3 no later action can replace the `_meta` that a
 * call has at its start, but the host adds its keys only later.
 */
function callDown(call: Shape): Shape {
  const meta = call['_meta']
  if (!isJsonObject(meta)) return call
  const left = omit(meta, ...Object.keys(meta).filter((key) => key.startsWith(ownKey)))
  return left === meta ? call : put(call, { _meta: Object.keys(left).length === 0 ? undefined : left })
}
