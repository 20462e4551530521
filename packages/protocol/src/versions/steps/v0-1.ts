import { Activity, Flag, hasFlag, withActivity } from '../../status.ts'
import { diffsChanged, withDiffs } from '../diffs.ts'
import { contextOf, rebuild } from '../lens.ts'
import type { Lens } from '../lens.ts'
import { sessionListRows } from '../session-list.ts'
import { at, each, objectChange, omit, shapeOf } from '../shape.ts'
import type { Shape } from '../shape.ts'
import { one, step } from '../step.ts'
import type { Row } from '../step.ts'
import { userMessages } from '../user-message.ts'
import { customizationRows, flatDown, pluginsUp, refsDown, toggledUp } from './v0-1-customizations.ts'
import { paramRows } from './v0-1-params.ts'

const talk = userMessages({
  holder: (holder) => at(holder, 'userMessage', objectChange(messageDown)),
  suggestion: messageDown,
  call: (call) => call,
})

const sessions = sessionListRows(summaryDown)

/**
 * The notifications whose params have no channel at 0.1. Here the channel is removed. The host then puts the params
 * into the form of 0.1.
 */
const notifications: { readonly [method: string]: (params: Shape) => Shape | undefined } = {
  'root/sessionAdded': (params) => sessions.notifications['root/sessionAdded'](offChannel(params)),
  'root/sessionRemoved': offChannel,
  'root/sessionSummaryChanged': (params) =>
    sessions.notifications['root/sessionSummaryChanged'](offChannel(params)),
  'auth/required': offChannel,
}
const notified: ReadonlySet<string> = new Set(Object.keys(notifications))

/**
 * Translates `session/ready`. The reducer of 0.1 removes the flags of the status at this action, so further actions
 * set them again. The reducer also removes the activity of a running or failed turn. No action can restore this
 * activity, so the client gets a new snapshot.
 */
const ready: Row = (action, context) => {
  const status = Number(shapeOf(shapeOf(contextOf(context).after)['summary'])['status'])
  const flags = status & (Flag.IsRead | Flag.IsArchived)
  if (status !== withActivity(flags, Activity.Idle)) return rebuild
  return [
    action,
    ...(hasFlag(status, Flag.IsRead) ? [{ type: 'session/isReadChanged', isRead: true }] : []),
    ...(hasFlag(status, Flag.IsArchived) ? [{ type: 'session/isArchivedChanged', isArchived: true }] : []),
  ]
}

const tables = step({
  version: '0.1.0',
  newer: '0.2.0',
  states: {
    root: (state) => at(state, 'agents', each(refsDown)),
    session: (state, context) => withDiffs(sessionDown(state), context),
    chat: sessionDown,
  },
  changes: { changeset: diffsChanged },
  actions: {
    ...talk.rows,
    ...customizationRows,
    'root/agentsChanged': one((action) => at(action, 'agents', each(refsDown))),
    'session/activeClientChanged': one(activeClientDown),
    'session/ready': ready,
  },
  actionsUp: {
    'session/activeClientChanged': (action) => at(action, 'activeClient', objectChange(pluginsUp)),
    'session/customizationToggled': toggledUp,
  },
  params: paramRows,
  results: {
    ...sessions.results,
    initialize: (result) => omit(result, 'telemetry'),
    fetchTurns: talk.page,
  },
  notifications,
})

/**
 * The step from 0.2 to 0.1. The host writes the envelopes of 0.1, which have no channel, and names the session or terminal
 * in each action.
 */
export const v01: Lens = {
  ...tables,
  knows: (method) => notified.has(method) || tables.knows(method),
}

function sessionDown(state: Shape): Shape {
  const flat = flatDown(activeClientDown(talk.session(state)))
  return at(flat, 'summary', objectChange(summaryDown))
}

/** Removes the agent and the list of changesets from a summary. 0.1 has neither. */
function summaryDown(summary: Shape): Shape {
  return omit(summary, 'agent', 'changesets')
}

function messageDown(message: Shape): Shape {
  return omit(message, '_meta')
}

function activeClientDown(holder: Shape): Shape {
  return at(holder, 'activeClient', objectChange(refsDown))
}

function offChannel(params: Shape): Shape {
  return omit(params, 'channel')
}
