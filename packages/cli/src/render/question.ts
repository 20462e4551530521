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

/** A question to the user, as an immutable state that keys change. It knows no terminal. */
export interface Question {
  /** The user types a line; otherwise single keys answer. */
  readonly types: boolean
  /** The lines above the rows, printed once: what the question is about. */
  head(style: Style): readonly string[]
  rows(style: Style, columns: number): Rows
  press(key: Key): Pressed<Question>
}
