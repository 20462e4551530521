import { areTexts, schemaLens, textChoices, valuesDown, valuesUp } from '../config-schema.ts'
import { conversation } from '../conversation.ts'
import { byDifference } from '../difference.ts'
import { contextOf } from '../lens.ts'
import type { ActionContext, Lowered } from '../lens.ts'
import { sessionListRows } from '../session-list.ts'
import { at, each, objectChange, omit, shapeOf } from '../shape.ts'
import type { OldAction, Shape } from '../shape.ts'
import { one, step } from '../step.ts'
import { clientMembers, metaMembers, sessionDown, summaryDown } from './v0-4-session.ts'
import { activeClientToolsUp, activeClientUp, newChat, withSelection } from './v0-4-up.ts'

/** Up to 0.4 the choices of a setting are texts. */
const schemas = schemaLens(textChoices)

/** Up to 0.4 model and agent belong to the session, not to a message. */
const talk = conversation({ message: (message) => omit(message, 'model', 'agent') })

const sessions = sessionListRows(summaryDown)

/**
 * The step from 0.5.0 to 0.4. At 0.4 the state of a chat has no draft. It also has no activity, because no action of 0.4
 * changes the activity; the list of chats shows it.
 */
export const v04 = step({
  version: '0.4.0',
  newer: '0.5.0',
  states: {
    root: schemas.root,
    session: (state, context) => sessionDown(configuredDown(state), context),
    chat: (state) => talk.chat(omit(state, 'draft', 'activity')),
  },
  actions: {
    ...talk.rows,
    'chat/draftChanged': () => [],
    'root/agentsChanged': one((action) => at(action, 'agents', each(schemas.agent))),
    'session/configChanged': configChangedDown,
    'session/metaChanged': (_, context) => byDifference(metaMembers, context),
    'session/activeClientSet': (_, context) => byDifference(clientMembers, context),
    'session/activeClientRemoved': (_, context) => byDifference(clientMembers, context),
  },
  actionsUp: {
    'session/configChanged': (action, { session }) =>
      at(action, 'config', (values) => valuesUp(session?.config?.schema, values)),
    'session/activeClientChanged': activeClientUp,
    'session/activeClientToolsChanged': activeClientToolsUp,
    'chat/turnStarted': withSelection,
    'chat/pendingMessageSet': withSelection,
  },
  params: {
    // The host selects `model` and `agent` for the new session, so they stay.
    createSession: (params) => omit(params, 'progressToken'),
    createChat: newChat,
  },
  results: {
    ...sessions.results,
    resolveSessionConfig: (result) => schemas.withSchema(withTextValues(result)),
    fetchTurns: (result) => at(result, 'turns', talk.turns),
  },
  notifications: sessions.notifications,
})

function configuredDown(state: Shape): Shape {
  return schemas.configured(at(state, 'config', objectChange(withTextValues)))
}

/** Lowers the `values` of an object that also has their `schema`. */
function withTextValues(config: Shape): Shape {
  return at(config, 'values', (values) => valuesDown(config['schema'], values))
}

/**
 * Translates changed values of a config. Only if a value is not a text and may be a choice, the schema is needed and
 * therefore a context. So most of these actions can be replayed.
 */
function configChangedDown(action: OldAction, context?: ActionContext): Lowered {
  if (areTexts(action['config'])) return [action]
  const { config } = shapeOf(contextOf(context).after)
  return [at(action, 'config', (values) => valuesDown(shapeOf(config)['schema'], values))]
}
