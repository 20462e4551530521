/** The annotations of a session, as the agent of a turn uses them. What the agent writes appears under the agent's name. */
export interface Comments {
  /** Whether the session has annotations now. */
  readonly exist: boolean
  /** The annotations of this moment, oldest first, with the code around them: all, or those of a file. */
  list(path?: string): Promise<readonly Comment[]>
  /** Comments on a file of the session's directories. Returns the id of the new annotation. */
  add(comment: NewComment): Promise<string>
  /** Answers an annotation. `id` is its id, or the beginning of its id if no other begins so. */
  reply(id: string, text: string): Promise<void>
  /** Marks an annotation as resolved, or as open again. */
  resolve(id: string, resolved: boolean): Promise<void>
}

export interface Comment {
  readonly id: string
  readonly resolved: boolean
  /** The file, the lines, the code around them and what was said. */
  readonly text: string
}

/** A comment on some lines of a file, or on the whole file. */
export interface NewComment {
  /**
   * The path of the file: absolute, or relative to the first working directory of the chat. If the chat has no working
   * directories of its own, the first one of its session is used.
   */
  readonly path: string
  /** The first line, counted from 1. Absent: the comment is about the whole file. */
  readonly line?: number
  /** The last line. Absent: the comment is about one line. */
  readonly lastLine?: number
  /** Markdown. */
  readonly text: string
}
