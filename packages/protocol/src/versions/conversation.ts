import { at, each, inOrder, objectChange } from './shape.ts'
import type { Change, Shape } from './shape.ts'
import { one } from './step.ts'
import type { Row } from './step.ts'

type Same = (item: Shape) => Shape

/**
 * The functions that translate the parts of a conversation from one version to the next older one. A part without a
 * function is the same in both.
 */
export interface ConversationChanges {
  /** Translates a message: of a turn, a pending one, a draft, or a suggestion to a denied tool call. */
  readonly message?: Same
  /** Translates a tool call, in a turn or in the list of what a session needs. */
  readonly call?: Same
  /** Translates the list of contents of a tool call or of its result. */
  readonly content?: (list: unknown) => unknown
  /** Translates a response part of a turn. Returns `undefined` if the older version has no such part. */
  readonly part?: Change
  /** Translates a turn that has ended. Its message and its parts are translated already. */
  readonly turn?: Same
  /** Translates the active turn. Its message and its parts are translated already. */
  readonly activeTurn?: Same
}

/**
 * Applies the functions of `ConversationChanges`. Each member does so for one kind of object that contains parts of a
 * conversation.
 */
export interface ConversationDown {
  /** For the state of a chat. */
  readonly chat: Same
  /** For the state of a session. */
  readonly session: Same
  /** For a list of turns that have ended. */
  readonly turns: (list: unknown) => unknown
  readonly rows: { readonly [type: string]: Row }
}

const same: Same = (item) => item

export function conversation(changes: ConversationChanges): ConversationDown {
  const message = changes.message ?? same
  const content = changes.content ?? ((list) => list)
  const messageIn = (key: string) => (item: Shape) => at(item, key, objectChange(message))
  const contentIn = (item: Shape) => at(item, 'content', content)
  const call = inOrder(contentIn, messageIn('userSuggestion'), changes.call ?? same)
  const callIn = (item: Shape) => at(item, 'toolCall', objectChange(call))
  const part: Change = (item) => (changes.part ?? same)(callIn(item))
  const parts = (turn: Shape) => at(turn, 'responseParts', each(part))
  const turn = inOrder(messageIn('message'), parts, changes.turn ?? same)
  const activeTurn = inOrder(messageIn('message'), parts, changes.activeTurn ?? same)
  const turnsIn = (item: Shape) => at(item, 'turns', each(turn))

  const chat = inOrder(
    turnsIn,
    (state) => at(state, 'activeTurn', objectChange(activeTurn)),
    (state) => at(state, 'steeringMessage', objectChange(messageIn('message'))),
    (state) => at(state, 'queuedMessages', each(messageIn('message'))),
    messageIn('draft'),
  )
  const messageRows = {
    'chat/turnStarted': one(messageIn('message')),
    'chat/pendingMessageSet': one(messageIn('message')),
    'chat/draftChanged': one(messageIn('draft')),
    'chat/toolCallConfirmed': one(messageIn('userSuggestion')),
  }
  const contentRows = {
    'chat/toolCallComplete': one((action) => at(action, 'result', objectChange(contentIn))),
    'chat/toolCallContentChanged': one(contentIn),
  }
  return {
    chat,
    session: (state) => at(state, 'inputNeeded', each(callIn)),
    turns: each(turn),
    rows: {
      ...(changes.message && messageRows),
      ...(changes.content && contentRows),
      'chat/turnsLoaded': one(turnsIn),
      'chat/responsePart': (action) => {
        const left = at(action, 'part', objectChange(part))
        return 'part' in left ? [left] : []
      },
      'session/inputNeededSet': one((action) => at(action, 'request', objectChange(callIn))),
    },
  }
}
