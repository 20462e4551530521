import type { Case, Cases } from '../reduce.ts'
import { Activity, withActivity } from '../status.ts'
import type { SessionStatus } from '../common/status.ts'
import { compact, mapped, patch } from '../update.ts'
import type { Changes } from '../update.ts'
import type { ToolCallAction } from './actions.ts'
import type { ActiveTurn, ChatState, ResponsePart } from './state.ts'
import type {
  ToolCallAuthRequired,
  ToolCallCancelled,
  ToolCallCompleted,
  ToolCallContributor,
  ToolCallPendingConfirmation,
  ToolCallPendingResult,
  ToolCallRunning,
  ToolCallState,
  ToolCallStreaming,
} from './tool.ts'

export const toolCallCases: Cases<ChatState, ToolCallAction> = {
  'chat/toolCallStart': (state, action) => {
    const turn = state.activeTurn
    if (turn?.id !== action.turnId) return state
    const toolCall = compact<ToolCallStreaming>({ ...baseOf(action), status: 'streaming' })
    const responseParts: readonly ResponsePart[] = [...turn.responseParts, { kind: 'toolCall', toolCall }]
    return { ...state, activeTurn: { ...turn, responseParts } }
  },

  'chat/toolCallDelta': change((call, { content, invocationMessage }) => {
    if (call.status !== 'streaming') return call
    return patch(call, {
      ...(content !== undefined && { partialInput: (call.partialInput ?? '') + content }),
      ...(invocationMessage !== undefined && { invocationMessage }),
    })
  }),

  'chat/toolCallReady': changeAndRefresh((call, action) => {
    if (call.status !== 'streaming' && call.status !== 'running' && call.status !== 'pending-confirmation')
      return call
    const known = {
      ...baseOf(call),
      contributor: contributorAfter(call.contributor, action.contributor),
      intention: action.intention ?? call.intention,
      invocationMessage: action.invocationMessage,
      toolInput: action.toolInput ?? (call.status === 'streaming' ? undefined : call.toolInput),
    }
    if (action.confirmed)
      return compact<ToolCallRunning>({ ...known, status: 'running', confirmed: action.confirmed })
    const before = call.status === 'pending-confirmation' ? call : undefined
    return compact<ToolCallPendingConfirmation>({
      ...known,
      status: 'pending-confirmation',
      confirmationTitle: action.confirmationTitle ?? before?.confirmationTitle,
      riskAssessment: action.riskAssessment ?? before?.riskAssessment,
      edits: action.edits ?? before?.edits,
      editable: action.editable ?? before?.editable,
      options: action.options ?? before?.options,
    })
  }),

  'chat/toolCallConfirmed': changeAndRefresh((call, action) => {
    if (call.status !== 'pending-confirmation') return call
    const selectedOption = call.options?.find((option) => option.id === action.selectedOptionId)
    if (!action.approved) {
      const { reason, reasonMessage, userSuggestion } = action
      return cancelled(call, { reason, reasonMessage, userSuggestion, selectedOption })
    }
    // Input by reference stays unchanged: the edited content was written to the resource before this action was sent.
    const edited = action.editedToolInput !== undefined && typeof call.toolInput === 'string'
    return compact<ToolCallRunning>({
      ...baseOf(call),
      status: 'running',
      invocationMessage: call.invocationMessage,
      toolInput: edited ? action.editedToolInput : call.toolInput,
      confirmed: action.confirmed,
      selectedOption,
    })
  }),

  'chat/toolCallComplete': changeAndRefresh((call, { result, requiresResultConfirmation }) => {
    const blocked = call.status === 'auth-required'
    if (call.status !== 'running' && call.status !== 'pending-confirmation' && !blocked) return call
    if (blocked && result.success) return call
    const asked = call.status === 'pending-confirmation'
    const done = {
      // The result comes first, because unknown keys in it must not replace the ids of the call.
      ...result,
      ...baseOf(call),
      invocationMessage: call.invocationMessage,
      toolInput: call.toolInput,
      confirmed: asked ? 'not-needed' : call.confirmed,
      selectedOption: asked ? undefined : call.selectedOption,
      content: result.content ?? (blocked ? call.content : undefined),
      structuredContent: result.structuredContent,
      error: result.error,
    }
    return requiresResultConfirmation && !blocked
      ? compact<ToolCallPendingResult>({ ...done, status: 'pending-result-confirmation' })
      : compact<ToolCallCompleted>({ ...done, status: 'completed' })
  }),

  'chat/toolCallResultConfirmed': changeAndRefresh((call, { approved }) => {
    if (call.status !== 'pending-result-confirmation') return call
    if (approved) return { ...call, status: 'completed' } satisfies ToolCallCompleted
    return cancelled(call, { reason: 'result-denied', selectedOption: call.selectedOption })
  }),

  'chat/toolCallContentChanged': change((call, { content }) =>
    call.status === 'running' ? { ...call, content } : call,
  ),

  'chat/toolCallAuthRequired': changeAndRefresh((call, { auth }) => {
    const { contributor } = call
    if (call.status !== 'running' || contributor?.kind !== 'mcp') return call
    return { ...call, status: 'auth-required', contributor, auth } satisfies ToolCallAuthRequired
  }),

  'chat/toolCallAuthResolved': changeAndRefresh((call) => {
    if (call.status !== 'auth-required') return call
    const { auth: _, ...rest } = call
    return { ...rest, status: 'running' } satisfies ToolCallRunning
  }),
}

/** The status of a chat. Its activity comes from the active turn: input needed, in progress, or idle. */
export function statusOf(state: ChatState): SessionStatus {
  return withActivity(state.status, activityOf(state.activeTurn))
}

/**
 * Returns a part as it is after the end of its turn. An unfinished tool call becomes cancelled, with the reason
 * "skipped".
 */
export function skipped(part: ResponsePart): ResponsePart {
  if (part.kind !== 'toolCall') return part
  const { toolCall: call } = part
  if (call.status === 'completed' || call.status === 'cancelled') return part
  return { kind: 'toolCall', toolCall: cancelled(call, { reason: 'skipped' }) }
}

type Change<A> = (call: ToolCallState, action: A) => ToolCallState
type CallAction = Exclude<ToolCallAction, { readonly type: 'chat/toolCallStart' }>

/**
 * Returns a reducer case that changes calls of the active turn: every call whose id is the call id of the action. To
 * refuse the change, `update` returns the same call.
 */
function change<A extends CallAction>(update: Change<A>): Case<ChatState, A> {
  return (state, action) => {
    const turn = state.activeTurn
    if (turn?.id !== action.turnId) return state
    const responseParts = mapped(turn.responseParts, (part) => {
      if (part.kind !== 'toolCall' || part.toolCall.toolCallId !== action.toolCallId) return part
      const next = update(part.toolCall, action)
      if (next === part.toolCall) return part
      return { ...part, toolCall: action._meta ? { ...next, _meta: action._meta } : next }
    })
    return responseParts === turn.responseParts ? state : { ...state, activeTurn: { ...turn, responseParts } }
  }
}

/** Like `change`, but always computes the status again, even if `update` refused the change. */
function changeAndRefresh<A extends CallAction>(update: Change<A>): Case<ChatState, A> {
  const changed = change(update)
  return (state, action) => {
    if (state.activeTurn?.id !== action.turnId) return state
    const next = changed(state, action)
    return { ...next, status: statusOf(next) }
  }
}

type Named = Pick<
  ToolCallState,
  'toolCallId' | 'toolName' | 'displayName' | 'intention' | 'contributor' | '_meta'
>

/** Returns a call as cancelled, with the reason. It keeps its description and input. */
function cancelled(
  call: ToolCallState,
  why: Changes<Pick<ToolCallCancelled, 'reasonMessage' | 'userSuggestion' | 'selectedOption'>> &
    Pick<ToolCallCancelled, 'reason'>,
): ToolCallCancelled {
  return compact<ToolCallCancelled>({
    ...baseOf(call),
    status: 'cancelled',
    invocationMessage: call.invocationMessage ?? '',
    toolInput: call.status === 'streaming' ? undefined : call.toolInput,
    ...why,
  })
}

function baseOf({ toolCallId, toolName, displayName, intention, contributor, _meta }: Named) {
  return { toolCallId, toolName, displayName, intention, contributor, _meta }
}

/**
 * The contributor of a call after an action. An action cannot give the call to a client, or take it from the client
 * that has it. It may replace any other contributor.
 */
function contributorAfter(
  current: ToolCallContributor | undefined,
  next: ToolCallContributor | undefined,
): ToolCallContributor | undefined {
  if (!next) return current
  if (current?.kind === 'client')
    return next.kind === 'client' && next.clientId === current.clientId ? next : current
  return next.kind === 'client' ? current : next
}

function activityOf(turn: ActiveTurn | undefined): Activity {
  if (!turn) return Activity.Idle
  return turn.responseParts.some(waits) ? Activity.InputNeeded : Activity.InProgress
}

const waiting = new Set(['pending-confirmation', 'pending-result-confirmation', 'auth-required'])

function waits(part: ResponsePart): boolean {
  if (part.kind === 'inputRequest') return part.response === undefined
  return part.kind === 'toolCall' && waiting.has(part.toolCall.status)
}
