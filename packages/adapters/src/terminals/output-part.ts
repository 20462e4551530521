/** A part of a program's output after sanitizing. */
export type OutputPart =
  /** Text and escape sequences to show. */
  | { readonly data: string }
  | { readonly title: string }
  /** The working directory, as a `file:` URI. */
  | { readonly cwd: string }
  | { readonly mark: CommandMark }
  /** An escape sequence that asks the terminal something. The host answers it, once (S-33). */
  | { readonly query: string }

/** A shell integration mark (OSC 133 or 633): a moment in the life of a command, and its data. */
export type CommandMark =
  | { readonly at: 'prompt' }
  | { readonly at: 'line'; readonly line: string }
  | { readonly at: 'executed'; readonly line?: string }
  | { readonly at: 'finished'; readonly exitCode?: number }
