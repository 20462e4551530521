import { at, each, inOrder, objectChange } from './shape.ts'
import type { Shape } from './shape.ts'
import { one } from './step.ts'
import type { Row } from './step.ts'

/**
 * How messages and tool calls differ between two versions up to 0.3, in which the session contains the turns. Each
 * member translates one kind of object.
 */
export interface UserMessageChanges {
  /** For an object that contains `message` or `userMessage`: a turn, a pending message, or an action. */
  readonly holder: (holder: Shape) => Shape
  /** For the message that a user suggests in place of a denied tool call. */
  readonly suggestion: (message: Shape) => Shape
  readonly call: (call: Shape) => Shape
}

/** Applies these changes. Each member does so for one kind of object that contains messages and tool calls. */
export interface UserMessageDown {
  /** For the state of a session. */
  readonly session: (state: Shape) => Shape
  /** For the result of `fetchTurns`, a page of turns. */
  readonly page: (result: Shape) => Shape
  readonly rows: { readonly [type: string]: Row }
}

export function userMessages({ holder, suggestion, call }: UserMessageChanges): UserMessageDown {
  const suggesting = (value: Shape) => at(value, 'userSuggestion', objectChange(suggestion))
  const part = (value: Shape) => at(value, 'toolCall', objectChange(inOrder(suggesting, call)))
  const turn = inOrder(holder, (value) => at(value, 'responseParts', each(part)))
  const page = (value: Shape) => at(value, 'turns', each(turn))
  return {
    session: inOrder(
      page,
      (state) => at(state, 'activeTurn', objectChange(turn)),
      (state) => at(state, 'steeringMessage', objectChange(holder)),
      (state) => at(state, 'queuedMessages', each(holder)),
    ),
    page,
    rows: {
      'session/turnStarted': one(holder),
      'session/pendingMessageSet': one(holder),
      'session/toolCallStart': one(call),
      'session/toolCallConfirmed': one(suggesting),
      'session/responsePart': one((action) => at(action, 'part', objectChange(part))),
    },
  }
}
