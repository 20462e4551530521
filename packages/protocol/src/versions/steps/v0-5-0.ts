import { Activity, withActivity } from '../../status.ts'
import { conversation } from '../conversation.ts'
import { customizations } from '../customizations.ts'
import { at, each, inOrder, objectChange, omit, put } from '../shape.ts'
import type { Shape } from '../shape.ts'
import { one, step } from '../step.ts'

const talk = conversation({ call: withoutIntention })
const lists = customizations((item) => (item['type'] === 'agent' ? omit(item, 'model', 'tools') : item))

export const v050 = step({
  version: '0.5.0',
  newer: '0.5.1',
  states: {
    root: rootDown,
    session: inOrder(lists.session, sessionDown),
    chat: inOrder(talk.chat, (state) => omit(state, 'turnsNextCursor')),
    changeset: filesDown,
  },
  actions: {
    ...talk.rows,
    ...lists.rows,
    'root/agentsChanged': one(rootDown),
    'session/inputNeededSet': () => [],
    // A client of 0.5.0 gets older turns as the result of a command.
    'chat/turnsLoaded': () => [],
    'chat/toolCallStart': one(withoutIntention),
    'changeset/fileSet': one((action) => at(action, 'file', objectChange(fileDown))),
    'changeset/contentChanged': one(filesDown),
  },
  params: {
    subscribe: (params) => omit(params, 'view', 'delivery'),
    listSessions: (params) => omit(params, 'filter', 'limit', 'cursor'),
  },
  results: {
    listSessions: (result) => omit(result, 'nextCursor'),
    fetchTurns: (result) => at(result, 'turns', talk.turns),
  },
})

function rootDown(state: Shape): Shape {
  return at(
    lists.root(state),
    'agents',
    each((agent) => omit(agent, 'capabilities')),
  )
}

function filesDown(holder: Shape): Shape {
  return at(holder, 'files', each(fileDown))
}

/**
 * Removes the `nonce` from the contents of a file, which they do not have up to 0.5.0. A `nonce` shows whether the
 * contents are the same as before.
 */
function fileDown(file: Shape): Shape {
  const content = (side: Shape) =>
    at(
      side,
      'content',
      objectChange((reference) => omit(reference, 'nonce')),
    )
  return at(
    file,
    'edit',
    objectChange((edit) => at(at(edit, 'before', objectChange(content)), 'after', objectChange(content))),
  )
}

function withoutIntention(holder: Shape): Shape {
  return omit(holder, 'intention')
}

/**
 * Removes the list of requests that need input, which sessions have since 0.5.1, and sets the status to idle. Up to
 * 0.5.0 no action changes the activity in the status of a session. The chats of the session have their own status.
 */
function sessionDown(state: Shape): Shape {
  const { status } = state
  const left = omit(state, 'inputNeeded')
  return typeof status === 'number' ? put(left, { status: withActivity(status, Activity.Idle) }) : left
}
