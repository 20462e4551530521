import type { Action } from '../../channel.ts'
import { isJsonObject } from '../../json.ts'
import { Refusal } from '../lens.ts'
import { sessionListRows } from '../session-list.ts'
import { at, each, objectChange, omit, put, shapeOf } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { one, step } from '../step.ts'
import { userMessages } from '../user-message.ts'
import { customizationRows, customizationsDown } from './v0-2-customizations.ts'

/**
 * Translates messages and tool calls. Up to 0.2 every message is one of a user, and only a client can contribute a
 * tool call.
 */
const talk = userMessages({ holder: holderDown, suggestion: withoutOrigin, call: callDown })

/** Translates the session list, which counts no changes up to 0.2. */
const sessions = sessionListRows((summary) => omit(summary, 'changes'))

/** The step from 0.3 to 0.2. A chat that is shown as a session has the same differences as a session. */
export const v02 = step({
  version: '0.2.0',
  newer: '0.3.0',
  states: {
    root: (state) => at(state, 'agents', each(customizationsDown)),
    session: sessionDown,
    chat: sessionDown,
    changeset: operationsDown,
  },
  actions: {
    ...talk.rows,
    ...customizationRows,
    'root/agentsChanged': one((action) => at(action, 'agents', each(customizationsDown))),
    'session/changesetsChanged': one(changesetsDown),
    'session/activeClientChanged': one(activeClientDown),
    'changeset/operationsChanged': one(operationsDown),
  },
  actionsUp: {
    'session/turnStarted': messageUp,
    'session/pendingMessageSet': messageUp,
    'session/toolCallConfirmed': (action) => at(action, 'userSuggestion', objectChange(withOrigin)),
  },
  params: {
    initialize: (params) => omit(params, 'capabilities'),
  },
  results: { ...sessions.results, fetchTurns: talk.page },
  notifications: sessions.notifications,
})

function holderDown(holder: Shape): Shape {
  const { message, ...rest } = holder
  return isJsonObject(message) ? { ...rest, userMessage: withoutOrigin(message) } : holder
}

function withoutOrigin(message: Shape): Shape {
  return omit(message, 'origin')
}

function callDown(call: Shape): Shape {
  const contributor = shapeOf(call['contributor'])
  const { kind, clientId } = contributor
  return put(call, { contributor: undefined, ...(kind === 'client' && { toolClientId: clientId }) })
}

function sessionDown(state: Shape): Shape {
  const { changesets, ...rest } = activeClientDown(customizationsDown(talk.session(state)))
  if (changesets === undefined) return rest
  return at(
    rest,
    'summary',
    objectChange((summary) => changesetsDown({ ...summary, changesets })),
  )
}

function activeClientDown(holder: Shape): Shape {
  return at(holder, 'activeClient', objectChange(customizationsDown))
}

/** Removes the kinds from the list of changesets. 0.2 has no kinds of changesets. */
function changesetsDown(holder: Shape): Shape {
  return at(
    holder,
    'changesets',
    each((changeset) => omit(changeset, 'changeKind')),
  )
}

function operationsDown(holder: Shape): Shape {
  return at(
    holder,
    'operations',
    each((operation) => omit(operation, 'status', 'error')),
  )
}

function messageUp(action: OldAction): Action | Refusal {
  const { userMessage } = action
  if (!isJsonObject(userMessage)) return new Refusal('userMessage: not an object')
  return put(action, { userMessage: undefined, message: withOrigin(userMessage) })
}

function withOrigin(message: Shape): Shape {
  return { ...message, origin: { kind: 'user' } }
}
