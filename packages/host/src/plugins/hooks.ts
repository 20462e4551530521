import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { compact } from '@atrium/protocol/update'
import type { LimitValues } from '@atrium/protocol/limits'
import { isArgument, isEnvironment } from './parse/json-shapes.ts'
import { matcherOf } from './parse/matcher.ts'
import { printable } from './parse/plugin-text.ts'

/** A command of a plugin that runs at an event of a session, for example before a tool call. */
export interface Hook {
  readonly event: string
  /**
   * An expression for `matcherOf` that selects the tools, paths or commands of the event for which the hook runs. Absent: the
   * hook runs for all.
   */
  readonly matcher?: string
  readonly command: HookCommand
  readonly timeoutSeconds?: number
  readonly env?: { readonly [name: string]: string }
  /** The working directory of the command: absolute, or relative to the session's directory. `~` is not expanded. */
  readonly cwd?: string
}

/** A command line for each system. `any` is for systems without a command line of their own. */
export interface HookCommand {
  readonly any?: string
  readonly windows?: string
  readonly linux?: string
  readonly osx?: string
}

export interface HookFile {
  readonly hooks: readonly Hook[]
  readonly problems: readonly string[]
}

/** The command line of a hook for a system. Undefined if the hook has none for this system. */
export function commandFor({ command }: Hook, system: 'windows' | 'linux' | 'osx'): string | undefined {
  return command[system] ?? command.any
}

/**
 * Reads the hooks of a file: `{hooks: {Event: [{matcher?, hooks: [action]}]}}`. The outer key may be missing, and actions may
 * be directly below the event. An action that cannot be used is left out and reported; events of other programs are ignored.
 */
export function readHooks(
  value: JsonObject,
  { pluginComponents: most }: Pick<LimitValues, 'pluginComponents'>,
): HookFile {
  const hooks: Hook[] = []
  const problems: string[] = []
  if (value['disableAllHooks'] === true) return { hooks, problems }
  const { hooks: inner } = value
  if (inner !== undefined && !isJsonObject(inner))
    return { hooks, problems: ['The field hooks is not an object.'] }
  for (const [name, rules] of Object.entries(inner ?? value)) {
    const event = events.get(name)
    if (event === undefined) continue
    if (!Array.isArray(rules)) problems.push(`The event ${event} is not a list.`)
    else
      for (const { action, matcher } of rules.flatMap(actionsOf)) {
        const hook = hookOf(action, event, matcher)
        if (typeof hook === 'string') problems.push(`${event}: ${hook}`)
        else if (hooks.length < most) hooks.push(hook)
        else return { hooks, problems: [...problems, `It has more than ${most} hooks.`] }
      }
  }
  return { hooks, problems }
}

/** The names of events in files of hooks, each with its name here. Some programs use other names for an event. */
const events: ReadonlyMap<string, string> = new Map(
  `PreToolUse PostToolUse PostToolUseFailure SessionStart SessionEnd BeforeReadFile AfterFileEdit BeforeShellExecution
  AfterShellExecution UserPromptSubmit Stop SubagentStart SubagentStop StopFailure PreCompact PostCompact TeammateIdle
  TaskCreated TaskCompleted Notification PermissionRequest InstructionsLoaded ConfigChange CwdChanged FileChanged
  WorktreeCreate WorktreeRemove Elicitation ElicitationResult ErrorOccurred`
    .split(/\s+/)
    .flatMap((name) => [[name, name] as const, [name.charAt(0).toLowerCase() + name.slice(1), name] as const])
    .concat([
      ['userPromptSubmitted', 'UserPromptSubmit'],
      ['agentStop', 'Stop'],
    ]),
)

interface FoundAction {
  readonly action: unknown
  readonly matcher: unknown
}

function actionsOf(rule: unknown): readonly FoundAction[] {
  if (!isJsonObject(rule)) return [{ action: rule, matcher: undefined }]
  const { hooks, matcher } = rule
  return Array.isArray(hooks)
    ? hooks.map((action: unknown) => ({ action, matcher }))
    : [{ action: rule, matcher }]
}

/** Makes a hook from an action. Returns a sentence about the problem if the action cannot be used. */
function hookOf(action: unknown, event: string, matcher: unknown): Hook | string {
  if (!isJsonObject(action)) return 'A hook is not an object.'
  const { type = 'command', cwd, env } = action
  if (type !== 'command') return `A hook of the type ${printable(JSON.stringify(type))} is not supported.`
  const command = commandsOf(action)
  if (!command) return 'A hook has no command.'
  const expression = matcher === '' || matcher === '*' ? undefined : matcher
  if (expression !== undefined && !isMatcher(expression))
    return 'A matcher is no regular expression that is supported.'
  const timeout = action['timeout'] ?? action['timeoutSec']
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0))
    return 'A timeout is not a number of seconds.'
  if (env !== undefined && !isEnvironment(env)) return 'The env of a hook is not an object of texts.'
  if (cwd !== undefined && !isArgument(cwd)) return 'The cwd of a hook is not a path.'
  return compact<Hook>({ event, matcher: expression, command, timeoutSeconds: timeout, env, cwd })
}

function commandsOf(action: JsonObject): HookCommand | undefined {
  const line = (...keys: readonly string[]) =>
    keys
      .map((key) => action[key])
      .find((value): value is string => typeof value === 'string' && value.trim() !== '')
  const command = compact<HookCommand>({
    any: line('command', 'bash'),
    windows: line('windows', 'powershell'),
    linux: line('linux'),
    osx: line('osx'),
  })
  const lines = Object.values(command)
  return lines.length === 0 || lines.some((each: string) => each.includes('\0')) ? undefined : command
}

function isMatcher(value: unknown): value is string {
  return typeof value === 'string' && matcherOf(value) !== undefined
}
