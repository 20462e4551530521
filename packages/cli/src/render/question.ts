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
 * answer. `more`: the user wants to see the next lines. `anew`: no key counts until the changed rows were shown.
 */
export type Pressed<Q> =
  | { readonly next: Q; readonly draft?: ChatAction; readonly more?: boolean; readonly anew?: boolean }
  | { readonly answer: Answer; readonly next?: undefined }

/** The rows of a question below the text, and the place of the cursor. */
export interface Rows {
  readonly rows: readonly string[]
  readonly cursor?: Cursor
}

/** Lines to print above the rows, and the question after they were on the screen. */
export interface Printed<Q> {
  readonly lines: readonly string[]
  readonly next: Q
}

export interface WindowSize {
  readonly columns: number
  readonly height: number
}

/**
 * A question to the user. It is an immutable state: each key press gives a new state or an answer. It does not depend on
 * a terminal.
 */
export interface Question {
  /** Whether the user types a line. If not, single keys answer. */
  readonly types: boolean
  /** Returns the lines that say what the question is about, as many as fit into the window. Later calls return the rest. */
  more(style: Style, window: WindowSize): Printed<Question>
  rows(style: Style, columns: number): Rows
  press(key: Key): Pressed<Question>
}
