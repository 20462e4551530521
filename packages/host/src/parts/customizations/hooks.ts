import { hooksOf } from '../../catalog/machine.ts'
import { customizationsOf } from '../../catalog/customizing.ts'
import { nothing } from '../../catalog/hook-event.ts'
import type { HookEvent, HookResult } from '../../catalog/hook-event.ts'
import { pathOf } from '@atrium/protocol/file-uri'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { commandFor } from '../../plugins/hooks.ts'
import type { Hook } from '../../plugins/hooks.ts'
import type { HookOutcome, HookRunner } from '../../ports/hooks.ts'
import { matches } from './hook-matcher.ts'

/** Runs the enabled hooks of an event, one after the other. After the first hook that blocks, no further hook runs. */
export async function runHooks(
  core: Core,
  session: Channel<'session'>,
  event: HookEvent,
  signal: AbortSignal,
): Promise<HookResult> {
  const runner = hooksOf(core)
  const customizations = customizationsOf(core)
  if (!runner || !customizations) return nothing
  const components = await customizations.components(session.uri)
  const due = components.flatMap((each) =>
    each.kind === 'hook'
      ? each.hooks
          .filter((hook) => hook.event === event.name && matches(hook.matcher, event.tool))
          .map((hook) => ({ hook, child: each.child }))
      : [],
  )
  const context: string[] = []
  const failures: string[] = []
  for (const { hook, child } of due) {
    const changed = await customizations.changedProgram(session.uri, child.id)
    if (changed !== undefined) {
      failures.push(`A hook for ${event.name}, from ${child.name}, was not run. ${changed}`)
      continue
    }
    const outcome = await runHook(core, runner, { session, event, hook, signal })
    if (!outcome) continue
    const { exitCode, stdout, stderr } = outcome
    if (exitCode === blockingCode)
      return { context, failures, blocked: stderr.trim() || 'A hook has refused this.' }
    if (exitCode === 0) context.push(...(stdout.trim() === '' ? [] : [stdout.trim()]))
    else failures.push(failureOf(event, outcome))
  }
  return { context, failures }
}

/** The exit code by which a hook refuses. Every other code but 0 is a failure of the hook itself. */
const blockingCode = 2

interface HookCall {
  readonly session: Channel<'session'>
  readonly event: HookEvent
  readonly hook: Hook
  readonly signal: AbortSignal
}

async function runHook(
  { limits }: Core,
  runner: HookRunner,
  { session, event, hook, signal }: HookCall,
): Promise<HookOutcome | undefined> {
  const line = commandFor(hook, runner.system)
  const named = pathOf(session.head.workingDirectories?.[0] ?? '')
  if (line === undefined || !named.ok) return undefined
  const cwd = named.path
  const input = { hook_event_name: event.name, session_id: session.uri, cwd, ...event.detail }
  const seconds = Math.min(hook.timeoutSeconds ?? Infinity, limits.hookMs / 1000)
  return runner.run(
    {
      line,
      cwd: directoryOf(hook, cwd),
      env: hook.env ?? {},
      input: JSON.stringify(input),
      timeoutMs: seconds * 1000,
      maxLength: limits.hookOutput,
    },
    signal,
  )
}

/**
 * Returns the working directory of a hook: `folder`, which is that of the session, or the hook's own `cwd`. A
 * relative `cwd` is relative to `folder`.
 */
function directoryOf({ cwd }: Hook, folder: string): string {
  if (cwd === undefined) return folder
  return cwd.startsWith('/') ? cwd : `${folder}/${cwd.replace(/^\.\//, '')}`
}

function failureOf({ name }: HookEvent, { exitCode, stderr, problem }: HookOutcome): string {
  const reason = problem ?? `It ended with exit code ${exitCode}.`
  const said = stderr.trim()
  return `A hook for ${name} failed. ${reason}${said === '' ? '' : ` ${said}`}`
}
