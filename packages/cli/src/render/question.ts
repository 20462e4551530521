import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { Key } from '../terminal/keys.ts'
import type { Style } from '../terminal/output.ts'
import type { Cursor } from './pane.ts'

/** The answer of a user: an action to dispatch, or a token to sign in with. */
export type Answer =
  | { readonly action: ChatAction }
  | { readonly signIn: { readonly resource: string; readonly token: string } }

/**
 * The result of a key press: the next state of the question, or its answer. A draft shows other clients a partial
 * answer.
 */
export type Pressed<Q> =
  | { readonly next: Q; readonly draft?: ChatAction }
  | { readonly answer: Answer; readonly next?: undefined }

/** The rows of a question below the text, and the place of the cursor. */
export interface Rows {
  readonly rows: readonly string[]
  readonly cursor?: Cursor
}

/**
 * A question to the user. It is an immutable state: each key press gives a new state or an answer. It does not depend on
 * a terminal.
 */
export interface Question {
  /** Whether the user types a line. If not, single keys answer. */
  readonly types: boolean
  /** Lines that say what the question is about. They are printed once, above the rows. */
  head(style: Style): readonly string[]
  rows(style: Style, columns: number): Rows
  press(key: Key): Pressed<Question>
}
