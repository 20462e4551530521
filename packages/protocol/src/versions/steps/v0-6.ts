import { AhpError } from '../../errors.ts'
import { isJsonObject } from '../../json.ts'
import { conversation } from '../conversation.ts'
import { at, each, inOrder, listOf, objectChange, omit, put, shapeOf, textOf } from '../shape.ts'
import type { Shape } from '../shape.ts'
import { one, step, unlessEmptied } from '../step.ts'
import { terminalContentDown, terminalContentUp } from '../terminal-content.ts'

const talk = conversation({ message: messageDown, call: callDown, content: terminalContentDown })
const summaryDown = objectChange(directoryDown)
const resultUp = objectChange(contentUp)

export const v06 = step({
  version: '0.6.0',
  newer: '0.7.0',
  states: {
    root: rootDown,
    session: inOrder(talk.session, directoryDown, (state) => at(state, 'chats', each(chatDown))),
    chat: inOrder(talk.chat, chatDown),
    terminal: (state) => omit(state, 'isPty'),
  },
  actions: {
    ...talk.rows,
    'root/agentsChanged': one(rootDown),
    'session/chatAdded': one((action) => at(action, 'summary', objectChange(chatDown))),
    'session/chatUpdated': (action) => {
      const left = unlessEmptied(action, at(action, 'changes', objectChange(chatDown)))
      return left ? [{ ...left, type: action.type }] : []
    },
    // Up to 0.6 the key `content` is required.
    'chat/toolCallDelta': one((action) => ('content' in action ? action : { ...action, content: '' })),
    'chat/toolCallReady': one(readyDown),
  },
  actionsUp: {
    'chat/toolCallComplete': (action) => at(action, 'result', resultUp),
    'chat/toolCallContentChanged': contentUp,
  },
  params: {
    createSession: directoryUp,
    // 0.7 added a second kind of source. Up to 0.6 a source is always a fork.
    createChat: (params) => at(params, 'source', objectChange(sourceUp)),
  },
  results: {
    listSessions: (result) => at(result, 'items', each(directoryDown)),
    fetchTurns: (result) => at(result, 'turns', talk.turns),
    completions: (result) =>
      at(
        result,
        'items',
        each((item) => at(item, 'attachment', attachmentIn)),
      ),
  },
  notifications: {
    'root/sessionAdded': (params) => at(params, 'summary', summaryDown),
    'root/sessionSummaryChanged': (params) => unlessEmptied(params, at(params, 'changes', summaryDown)),
  },
})

function rootDown(state: Shape): Shape {
  return at(
    state,
    'agents',
    each((agent) => at(agent, 'capabilities', objectChange(capabilitiesDown))),
  )
}

function capabilitiesDown(capabilities: Shape): Shape {
  const withoutSideChat = objectChange((value) => omit(value, 'sideChat'))
  return at(omit(capabilities, 'multipleWorkingDirectories'), 'multipleChats', withoutSideChat)
}

/**
 * Replaces the folders of a session or chat by the first one. Up to 0.6 there is only one folder, which no action
 * changes.
 */
function directoryDown<S extends Shape>(holder: S): S {
  if (!('workingDirectories' in holder)) return holder
  const [workingDirectory] = listOf(holder, 'workingDirectories')
  return put(holder, { workingDirectories: undefined, workingDirectory })
}

function directoryUp(params: Shape): Shape {
  const { workingDirectory } = params
  if (workingDirectory === undefined) return params
  if (typeof workingDirectory !== 'string')
    throw AhpError.invalidParams('createSession: workingDirectory must be a URI')
  return put(params, { workingDirectory: undefined, workingDirectories: [workingDirectory] })
}

/**
 * Translates a chat, its entry in the session, or changes of that entry. A side chat is shown as a chat that a user
 * began.
 */
function chatDown(chat: Shape): Shape {
  const origin = shapeOf(chat['origin'])
  return directoryDown(origin['kind'] === 'sideChat' ? { ...chat, origin: { kind: 'user' } } : chat)
}

function sourceUp(source: Shape): Shape {
  return 'kind' in source ? source : { kind: 'fork', ...source }
}

function messageDown(message: Shape): Shape {
  return at(message, 'attachments', each(attachmentDown))
}

/** Replaces an attached chat by a text attachment that names the chat. Up to 0.6 a chat cannot be attached. */
function attachmentDown(attachment: Shape): Shape {
  if (attachment['type'] !== 'chat') return attachment
  const { endTurn } = attachment
  const end = typeof endTurn === 'string' ? `, up to turn ${endTurn}` : ''
  return {
    ...omit(attachment, 'resource', 'endTurn'),
    type: 'simple',
    modelRepresentation: `Chat ${textOf(attachment, 'resource') ?? ''}${end}`,
  }
}

function attachmentIn(attachment: unknown): unknown {
  return objectChange(attachmentDown)(attachment)
}

/**
 * Translates the input of a tool call, which is always a text up to 0.6. A long input, which the state only refers
 * to, becomes a text with its URI. This text cannot be edited, because the edited text would replace the whole input.
 */
function callDown(call: Shape): Shape {
  const { toolInput } = call
  if (!isJsonObject(toolInput)) return call
  const named = put(call, { toolInput: inputText(toolInput) })
  return call['status'] === 'pending-confirmation' ? put(named, { editable: false }) : named
}

/**
 * Translates `chat/toolCallReady`: removes the contributor and the intention, which are fixed at the start of a call
 * up to 0.6, and translates the input as `callDown` does.
 */
function readyDown(action: Shape): Shape {
  const left = omit(action, 'contributor', 'intention')
  const { toolInput } = left
  if (!isJsonObject(toolInput)) return left
  const named = put(left, { toolInput: inputText(toolInput) })
  return left['confirmed'] ? named : put(named, { editable: false })
}

function inputText(reference: Shape): string {
  return `The input is stored at ${textOf(reference, 'uri') ?? 'another place'}.`
}

function contentUp<S extends Shape>(holder: S): S {
  return at(holder, 'content', terminalContentUp)
}
