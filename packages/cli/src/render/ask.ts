import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { Key } from '../terminal/keys.ts'
import type { Style } from '../terminal/output.ts'
import type { Cursor } from './pane.ts'

/** What a person wants to be said in a chat, or to be shown to whoever asks to sign in. */
export type Answer =
  | { readonly say: ChatAction }
  | { readonly signIn: { readonly resource: string; readonly token: string } }

/** What a key makes of a question: the same one further on, or its answer. A draft is for the others to see. */
export type Pressed<Q> =
  | { readonly next: Q; readonly draft?: ChatAction }
  | { readonly answer: Answer; readonly next?: undefined }

/** The rows in which a question waits for keys, and where what is typed goes. */
export interface Rows {
  readonly rows: readonly string[]
  readonly cursor?: Cursor
}

/** A question to a person as keys change it, apart from any terminal. */
export interface Question {
  /** A line is being typed; else single keys answer. */
  readonly types: boolean
  /** Said once, above: what it is about. */
  head(style: Style): readonly string[]
  rows(style: Style, columns: number): Rows
  press(key: Key): Pressed<Question>
}
