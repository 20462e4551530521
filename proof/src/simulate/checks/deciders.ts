import { equal } from '@atrium/host/log/equal'
import type { Action } from '@atrium/protocol/channel'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { ModelEntry } from './reference-model.ts'

/** The part of a call's metadata that says who decided about the call, and who decided about its result. */
interface Records {
  readonly decidedBy?: Decider
  readonly resultDecidedBy?: Decider
}

interface Decider {
  readonly approved?: boolean
  readonly clientId?: string
  readonly permission?: { readonly tool: string }
}

interface CallAction extends Action {
  readonly turnId?: string
  readonly toolCallId?: string
  readonly approved?: boolean
  readonly confirmed?: string
  readonly result?: { readonly success?: boolean }
  readonly _meta?: Meta
}

type Meta = { readonly [key: string]: unknown }

/**
 * Checks an action on a call. X8: the metadata of the call must name the client that answered, or the permission that
 * covers the call. Returns the problem, if there is one. `call` is the call before the action.
 */
export function deciderProblem(entry: ModelEntry, call: ToolCallState | undefined): string | undefined {
  const action = entry.action as CallAction
  if (action.toolCallId === undefined) return undefined
  const before = recordsIn(call?._meta)
  const after = recordsIn(action._meta ?? call?._meta)
  const expected = expectedAfter(action, before, call, entry.origin?.clientId)
  return equal(shortened(after), shortened(expected))
    ? undefined
    : `${entry.seq} says ${JSON.stringify(after)} about ${action.toolCallId}, instead of ${JSON.stringify(expected)}`
}

/** Whether an action of the log is the one that a client sent, apart from the metadata that the host adds. */
export function isSent(logged: Action | undefined, sent: Action): boolean {
  return logged !== undefined && (textOf(logged) === textOf(sent) || isDeniedRun(logged, sent))
}

/** Whether a client denied a running call that it should run itself. The host stores this as a failed result (X7). */
function isDeniedRun(logged: CallAction, sent: CallAction): boolean {
  const isDenial = sent.type === 'chat/toolCallConfirmed' && sent.approved === false
  const isResult = logged.type === 'chat/toolCallComplete' && logged.result?.success === false
  return isDenial && isResult && logged.turnId === sent.turnId && logged.toolCallId === sent.toolCallId
}

function textOf(action: Action): string {
  return JSON.stringify(action, (key, value: unknown) => (key === '_meta' ? undefined : value))
}

function expectedAfter(
  { type, approved, confirmed }: CallAction,
  before: Records,
  call: ToolCallState | undefined,
  clientId = '',
): Records {
  const own = { approved: approved === true, clientId }
  switch (type) {
    case 'chat/toolCallStart':
      return {}
    case 'chat/toolCallReady':
      return confirmed === 'setting' && call
        ? { decidedBy: { permission: { tool: permittedName(call) } } }
        : {}
    case 'chat/toolCallConfirmed':
      return { ...before, decidedBy: own }
    case 'chat/toolCallResultConfirmed':
      return { ...before, resultDecidedBy: own }
    default:
      return before
  }
}

/** Returns the name under which a permission for the tool of a call is saved (X9.5). */
export function permittedName({ toolName, contributor }: ToolCallState): string {
  return contributor?.kind === 'client' ? `client:${contributor.clientId}/${toolName}` : toolName
}

/** Returns the records without what the reference model does not know: the principal, and the id of a permission. */
function shortened({ decidedBy, resultDecidedBy }: Records): readonly unknown[] {
  return [decidedBy, resultDecidedBy].map(
    (by) => by && [by.approved ?? null, by.clientId ?? null, by.permission?.tool ?? null],
  )
}

function recordsIn(meta: Meta | undefined): Records {
  return (meta?.['x-atrium'] ?? {}) as Records
}
