/**
 * A search for lines that contain a text, or a match of a regular expression: exactly one of the two is given. Files that are
 * binary, secret or ignored by version control are skipped.
 */
export interface Search {
  readonly text?: string
  /** A regular expression as in JavaScript, without back references and lookaround. */
  readonly pattern?: string
  /**
   * The directory or the file to search in. Absent: the first directory of the chat (of the session, if the chat has
   * none of its own).
   */
  readonly path?: string
  /** A pattern for paths relative to `path`. Only files whose path matches are searched. */
  readonly glob?: string
  readonly ignoreCase?: boolean
}

export interface SearchResult {
  readonly lines: readonly SearchMatch[]
  /** Whether the result is incomplete: some files were left out, or more lines match. */
  readonly more: boolean
}

export interface SearchMatch {
  /** The path of the file, relative to the path of the search. */
  readonly path: string
  /** Starts at 1. */
  readonly line: number
  readonly text: string
}
