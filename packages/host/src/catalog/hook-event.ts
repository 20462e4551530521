/** Something that happens in a session, for which hooks may run. */
export interface HookEvent {
  readonly name:
    | 'SessionStart'
    | 'UserPromptSubmit'
    | 'PreToolUse'
    | 'PostToolUse'
    | 'PostToolUseFailure'
    | 'Stop'
  /** The name of the tool. A hook with a matcher runs only for the tools that it matches. */
  readonly tool?: string
  /** What the hook gets on its standard input, besides the event, the session and the directory. */
  readonly detail: object
}

/** What the hooks of an event have said. */
export interface HookResult {
  /** Why the event must not happen. A hook says so with exit code 2, and writes the reason to the standard error. */
  readonly blocked?: string
  /** Text for the agent: the standard output of hooks that succeeded. */
  readonly context: readonly string[]
  /** One sentence for each hook that failed or was not run. Such a hook blocks nothing. */
  readonly failures: readonly string[]
}

export const nothing: HookResult = { context: [], failures: [] }
