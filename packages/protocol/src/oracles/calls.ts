import { mapped } from '../update.ts'
import type { Call, CallTraits, Part, WithCalls } from './traits.ts'
import type { Rules } from './table.ts'

interface CallAction extends Partial<Call> {
  readonly turnId: string
  readonly toolCallId: string
}
interface Delta extends CallAction {
  readonly content: string
}
interface Confirmation extends CallAction {
  readonly approved: boolean
  readonly editedToolInput?: unknown
  readonly selectedOptionId?: string
  readonly reason?: unknown
  readonly reasonMessage?: unknown
  readonly userSuggestion?: unknown
}
interface Completion extends CallAction {
  readonly result: object
  readonly requiresResultConfirmation?: boolean
}

/** The rules of tool calls up to 0.6. */
export function callRules(traits: CallTraits): Rules {
  const { callKeys, confirmationKeys, readyAgain } = traits
  const change = <A extends CallAction>(update: (call: Call, action: A) => Call) => changing(traits, update)
  const changeAndRefresh = <A extends CallAction>(update: (call: Call, action: A) => Call) =>
    refreshing(traits, update)

  return {
    toolCallStart: (state: WithCalls, action: CallAction) => {
      const turn = state.activeTurn
      if (turn?.id !== action.turnId) return state
      const toolCall = { ...picked(action, callKeys), status: 'streaming' }
      const part = { kind: 'toolCall', toolCall }
      return { ...state, activeTurn: { ...turn, responseParts: [...turn.responseParts, part] } }
    },

    toolCallDelta: change((call, { content, invocationMessage }: Delta) => {
      if (call.status !== 'streaming') return call
      const partialInput = (call.partialInput ?? '') + content
      return { ...call, partialInput, ...(invocationMessage !== undefined && { invocationMessage }) }
    }),

    // A call that becomes running takes its input from the action, even if the call had another input before.
    toolCallReady: changeAndRefresh((call, action: CallAction) => {
      const again = call.status === 'pending-confirmation'
      if (call.status !== 'streaming' && call.status !== 'running' && !(again && readyAgain)) return call
      const base = { ...picked(call, callKeys), ...picked(action, ['invocationMessage', 'toolInput']) }
      if (action.confirmed) return { ...base, status: 'running', confirmed: action.confirmed }
      const kept = again ? picked(call, ['toolInput', ...confirmationKeys]) : {}
      return { ...kept, ...base, ...picked(action, confirmationKeys), status: 'pending-confirmation' }
    }),

    toolCallConfirmed: changeAndRefresh((call, action: Confirmation) => {
      if (call.status !== 'pending-confirmation') return call
      const selectedOption = call.options?.find(({ id }) => id === action.selectedOptionId)
      const selected = selectedOption && { selectedOption }
      if (!action.approved) {
        const why = picked(action, ['reason', 'reasonMessage', 'userSuggestion'])
        return { ...cancelled(traits, call), ...why, ...selected }
      }
      const toolInput = action.editedToolInput ?? call.toolInput
      return {
        ...picked(call, [...callKeys, 'invocationMessage']),
        status: 'running',
        ...(toolInput !== undefined && { toolInput }),
        confirmed: action.confirmed,
        ...selected,
      }
    }),

    toolCallComplete: changeAndRefresh((call, { result, requiresResultConfirmation }: Completion) => {
      const asked = call.status === 'pending-confirmation'
      if (call.status !== 'running' && !asked) return call
      return {
        ...result,
        ...picked(call, [...callKeys, 'invocationMessage', 'toolInput']),
        confirmed: asked ? 'not-needed' : call.confirmed,
        ...(asked ? {} : picked(call, ['selectedOption'])),
        status: requiresResultConfirmation ? 'pending-result-confirmation' : 'completed',
      }
    }),

    toolCallResultConfirmed: changeAndRefresh((call, { approved }: Confirmation) => {
      if (call.status !== 'pending-result-confirmation') return call
      if (approved) return { ...call, status: 'completed' }
      return { ...cancelled(traits, call), reason: 'result-denied', ...picked(call, ['selectedOption']) }
    }),

    toolCallContentChanged: change((call, { content }: CallAction) =>
      call.status === 'running' ? { ...call, content } : call,
    ),
  }
}

/**
 * Returns a part as it is after the end of its turn. An unfinished call becomes cancelled, with the reason "skipped".
 */
export function skipped(traits: CallTraits, part: Part): Part {
  const call = part.kind === 'toolCall' ? part.toolCall : undefined
  if (!call || call.status === 'completed' || call.status === 'cancelled') return part
  const toolCall: Call & { reason: string } = { ...cancelled(traits, call), reason: 'skipped' }
  return { kind: 'toolCall', toolCall }
}

function cancelled({ callKeys }: CallTraits, call: Call): Call {
  return {
    ...picked(call, [...callKeys, ...(call.status === 'streaming' ? [] : (['toolInput'] as const))]),
    status: 'cancelled',
    invocationMessage: call.invocationMessage ?? '',
  }
}

/**
 * Returns a rule that changes calls of the active turn: every call whose id is the call id of the action. To refuse
 * the action, `update` returns the call unchanged.
 */
function changing<A extends CallAction>(traits: CallTraits, update: (call: Call, action: A) => Call) {
  return (state: WithCalls, action: A): WithCalls => {
    const turn = state.activeTurn
    if (turn?.id !== action.turnId) return state
    const responseParts = mapped(turn.responseParts, (part) => {
      const call = part.kind === 'toolCall' ? part.toolCall : undefined
      if (call?.toolCallId !== action.toolCallId) return part
      const next = update(call, action)
      if (next === call) return part
      const replaced = traits.replacesMeta && action._meta ? { ...next, _meta: action._meta } : next
      return { ...part, toolCall: replaced }
    })
    return responseParts === turn.responseParts ? state : { ...state, activeTurn: { ...turn, responseParts } }
  }
}

/**
 * Like `changing`, but also computes the status again for an action of the active turn, even if `update` refuses the action.
 */
function refreshing<A extends CallAction>(traits: CallTraits, update: (call: Call, action: A) => Call) {
  const changed = changing(traits, update)
  return (state: WithCalls, action: A): WithCalls => {
    if (state.activeTurn?.id !== action.turnId) return state
    const next = changed(state, action)
    // The `statusOf` of a version reads the states of that version, and `next` is one: hence the cast.
    return { ...next, status: traits.statusOf(next as never) }
  }
}

/** The given keys of an object, without those that are absent. */
function picked<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  const kept: Partial<Pick<T, K>> = {}
  for (const key of keys) if (from[key] !== undefined && from[key] !== null) kept[key] = from[key]
  return kept as Pick<T, K>
}
