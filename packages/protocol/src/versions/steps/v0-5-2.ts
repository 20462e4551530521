import { Activity, activityOf, inputNeededBit, withActivity } from '../../status.ts'
import { conversation } from '../conversation.ts'
import { customizations } from '../customizations.ts'
import { Refusal } from '../lens.ts'
import type { Lowered } from '../lens.ts'
import { sessionListRows } from '../session-list.ts'
import { at, each, inOrder, listOf, objectChange, omit, put, shapeOf } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { one, step } from '../step.ts'

const talk = conversation({ call: callDown, part: partDown, turn: untimed, activeTurn: untimed })
const lists = customizations((item) => at(item, 'state', objectChange(serverDown)))
const { 'chat/responsePart': responsePart, 'session/inputNeededSet': inputNeededSet, ...rows } = talk.rows

const sessions = sessionListRows(summaryDown)

export const v052 = step({
  version: '0.5.2',
  newer: '0.6.0',
  states: {
    root: lists.root,
    session: inOrder(talk.session, lists.session, changesetsDown, neededDown),
    chat: chatDown,
  },
  actions: {
    ...rows,
    ...lists.rows,
    'session/mcpServerStateChanged': one((action) => at(action, 'state', objectChange(serverDown))),
    'session/changesetsChanged': one(changesetsDown),
    // Up to 0.5.2 a tool call that waits for a login is not shown. An entry that changes to such a login is removed.
    'session/inputNeededSet': (action) => {
      const request = shapeOf(action['request'])
      if (isLogin(request)) return [{ type: 'session/inputNeededRemoved', id: request['id'] } as OldAction]
      return inputNeededSet?.(action) ?? [action]
    },
    'chat/turnStarted': one(untimed),
    'chat/turnComplete': one(untimed),
    'chat/turnCancelled': one(untimed),
    'chat/error': one(untimed),
    'chat/responsePart': responsePartDown,
    'chat/toolCallReady': one((action) => omit(action, 'riskAssessment')),
    'changeset/filesReviewChanged': ({ files, ...rest }) => [
      { ...rest, type: 'changeset/filesReviewedChanged', fileIds: files } as OldAction,
    ],
  },
  actionsUp: {
    'chat/turnStarted': (action, { now }) =>
      'startedAt' in action ? action : put(action, { startedAt: now }),
    'chat/turnCancelled': (action, { turnDuration }) =>
      'duration' in action ? action : put(action, { duration: turnDuration }),
    'changeset/filesReviewedChanged': () =>
      new Refusal('only the host marks files of a changeset as reviewed in version 0.5'),
  },
  results: {
    ...sessions.results,
    fetchTurns: (result) => at(result, 'turns', talk.turns),
  },
  notifications: sessions.notifications,
})

/** Removes the start and the duration of a turn. Both exist since 0.6. */
function untimed(holder: Shape): Shape {
  return omit(holder, 'startedAt', 'duration')
}

/**
 * Translates the state of a chat. Since 0.6 an input request is a part of its turn. Up to 0.5.2 the open requests of
 * the active turn are a list beside the turns, and a request that was never answered leaves nothing in its turn.
 */
function chatDown(state: Shape): Shape {
  const parts = listOf(shapeOf(state['activeTurn']), 'responseParts').map(shapeOf)
  const requests = parts.filter(isOpen).map((part) => requestDown(shapeOf(part['request'])))
  const lowered = talk.chat(withStatus(state, parts))
  return requests.length > 0 ? put(lowered, { inputRequests: requests }) : lowered
}

/** Removes the key `answers` from a request without answers. Up to 0.5.2 such a request lacks the key. */
function requestDown(request: Shape): Shape {
  return Object.keys(shapeOf(request['answers'])).length > 0 ? request : omit(request, 'answers')
}

/**
 * Sets the status to "in progress" if input is needed only because a tool call waits for a login. Up to 0.5.2 a tool
 * call cannot wait for a login.
 */
function withStatus(state: Shape, parts: readonly Shape[]): Shape {
  const { status } = state
  const statuses = parts.map((part) => shapeOf(part['toolCall'])['status'])
  const asks = parts.some(isOpen) || statuses.some((each) => asking.has(each))
  if (typeof status !== 'number' || asks || !statuses.includes('auth-required')) return state
  return activityOf(status) === Activity.InputNeeded
    ? put(state, { status: withActivity(status, Activity.InProgress) })
    : state
}

const asking: ReadonlySet<unknown> = new Set(['pending-confirmation', 'pending-result-confirmation'])

function isOpen(part: Shape): boolean {
  return part['kind'] === 'inputRequest' && part['response'] === undefined
}

function partDown(part: Shape): Shape | undefined {
  if (isOpen(part)) return undefined
  return part['kind'] === 'systemNotification' ? omit(part, '_meta') : part
}

function responsePartDown(action: OldAction): Lowered {
  const part = shapeOf(action['part'])
  if (isOpen(part)) return [{ type: 'chat/inputRequested', request: part['request'] } as OldAction]
  return responsePart?.(action) ?? [action]
}

function callDown(call: Shape): Shape {
  const left = omit(call, 'riskAssessment')
  return left['status'] === 'auth-required' ? { ...omit(left, 'auth'), status: 'running' } : left
}

/** Removes the OAuth client that a login uses from the state of an MCP server. The state names it since 0.6. */
function serverDown(state: Shape): Shape {
  return omit(state, 'oauthClient')
}

function changesetsDown(holder: Shape): Shape {
  return at(
    holder,
    'changesets',
    each((changeset) => omit(changeset, 'capabilities')),
  )
}

/** Gives an entry of the session list the status that it has without logins, if the host says that it differs. */
function summaryDown(summary: Shape): Shape {
  const own = shapeOf(shapeOf(summary['_meta'])['x-atrium'])
  if (!('withoutLogins' in own)) return summary
  const left = omit(own, 'withoutLogins')
  const meta = Object.keys(left).length > 0 ? { 'x-atrium': left } : undefined
  return put(summary, { status: own['withoutLogins'], _meta: meta })
}

function isLogin(request: Shape): boolean {
  return request['kind'] === 'toolAuthentication'
}

function neededDown(state: Shape): Shape {
  const needed = listOf(state, 'inputNeeded')
  const left = needed.filter((request) => !isLogin(shapeOf(request)))
  if (left.length > 0) return left.length === needed.length ? state : put(state, { inputNeeded: left })
  if (needed.length === 0) return omit(state, 'inputNeeded')
  return put(state, { inputNeeded: undefined, status: (Number(state['status']) & ~inputNeededBit) >>> 0 })
}
