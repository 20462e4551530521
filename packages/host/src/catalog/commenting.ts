import type { Uri } from '@atrium/protocol/channel'
import type { Core } from '../kernel/core.ts'
import { defineKey } from '../kernel/key.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { Agent } from '../ports/agent.ts'
import type { Comments } from '../ports/comments.ts'

/** The annotations of sessions, as turns use them. */
export interface Commenting {
  /** Returns the functions with which the agent of a turn lists, adds, answers and resolves annotations of its session. */
  forAgent(turn: CommentingTurn): Comments
  /**
   * The text of attached annotations for an agent. The principal is the owner of the agent's session. Rejects with an `AhpError`
   * for annotations that do not exist or belong to a session of another principal.
   */
  text(principal: string, attached: AttachedAnnotations): Promise<string>
  /** Moves the annotations of a session to where their texts are now. */
  followTexts(session: Uri): Promise<void>
}

/** A turn whose agent reads or writes comments. */
export interface CommentingTurn {
  readonly core: Core
  readonly session: Channel<'session'>
  readonly chat: Channel<'chat'>
  readonly turnId: string
  readonly agent: Agent
  /** Throws when the turn is over. */
  readonly requireRunning: () => void
}

/** Which annotations of which session a message attaches. */
export interface AttachedAnnotations {
  readonly resource: Uri
  readonly annotationIds?: readonly string[]
}

export const commentingOf = defineKey<Commenting>('annotations')
