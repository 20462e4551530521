import { schemaLens } from '../config-schema.ts'
import { conversation } from '../conversation.ts'
import { byDifference } from '../difference.ts'
import { sessionListRows } from '../session-list.ts'
import { at, each, omit } from '../shape.ts'
import { one, step } from '../step.ts'
import { clientMembers, metaMembers, sessionDown, summaryDown } from './v0-4-session.ts'
import { activeClientToolsUp, activeClientUp, newChat, withSelection } from './v0-4-up.ts'

/** Up to 0.4 the choices of a setting are texts. */
const schemas = schemaLens((property) =>
  at(property, 'enum', (choices) =>
    Array.isArray(choices) && choices.some((choice) => typeof choice !== 'string')
      ? choices.map(String)
      : choices,
  ),
)

/** Up to 0.4 model and agent belong to the session, not to a message. */
const talk = conversation({ message: (message) => omit(message, 'model', 'agent') })

const sessions = sessionListRows(summaryDown)

/**
 * The step from 0.5.0 to 0.4. The state of a chat has no draft, and no activity, because no action of 0.4 changes it: the
 * list of chats shows the activity.
 */
export const v04 = step({
  version: '0.4.0',
  newer: '0.5.0',
  states: {
    root: schemas.root,
    session: (state, context) => sessionDown(schemas.configured(state), context),
    chat: (state) => talk.chat(omit(state, 'draft', 'activity')),
  },
  actions: {
    ...talk.rows,
    'chat/draftChanged': () => [],
    'root/agentsChanged': one((action) => at(action, 'agents', each(schemas.agent))),
    'session/metaChanged': (_, context) => byDifference(metaMembers, context),
    'session/activeClientSet': (_, context) => byDifference(clientMembers, context),
    'session/activeClientRemoved': (_, context) => byDifference(clientMembers, context),
  },
  actionsUp: {
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
    resolveSessionConfig: schemas.withSchema,
    fetchTurns: (result) => at(result, 'turns', talk.turns),
  },
  notifications: sessions.notifications,
})
