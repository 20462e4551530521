import { TurnFailed } from '@atrium/host/ports/agent'
import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { acts, failed, proposed } from './tool-runs.ts'
import type { Called } from './stream-step.ts'
import { inputOf, inputProblem, inputText, isTool, quoted, toolOf } from './tools.ts'
import type { Input, Tool } from './tools.ts'
import { callIn } from '@atrium/protocol/chat/calls'

/** What calls are done with. */
export interface Doing {
  readonly chat: Chat
  /** After so long a line is ended. */
  later(task: () => void): () => void
}

/**
 * Does what the model has called for. What needs nobody is done first; all the rest asks before any of it is waited for, so that a host that
 * ends meanwhile finds nothing but questions, and asks on.
 */
export async function* useTools(calls: readonly Called[], doing: Doing): AsyncIterable<AgentAction> {
  const asking: string[] = []
  for (const call of calls.toSorted((a, b) => Number(isFree(b)) - Number(isFree(a)))) {
    const tool = toolOf(call.toolName)
    const problem = tool ? inputProblem(tool, call.input) : `there is no tool ${quoted(call.toolName)}`
    if (!tool || problem !== undefined) yield* impossible(call, problem ?? '')
    else if (tool.free) yield* free(call, tool, doing, asking)
    else yield* ask(call, tool, doing, asking)
  }
  for (const toolCallId of asking) yield* settle(toolCallId, doing)
}

/** Goes on with calls that a life before this began: they ask still, or were answered and not begun. */
export async function* openCalls({ responseParts }: ActiveTurn, doing: Doing): AsyncIterable<AgentAction> {
  const calls = responseParts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
  for (const call of calls) {
    const begun = call.status === 'running' && call.content !== undefined
    // It is not known how far it came, and nothing is done twice.
    if (begun) yield failed(call.toolCallId, 'this was interrupted')
    else if (call.status === 'pending-confirmation' || call.status === 'running')
      yield* settle(call.toolCallId, doing)
  }
}

function isFree({ toolName }: Called): boolean {
  return toolOf(toolName)?.free === true
}

async function* free(call: Called, tool: Tool, doing: Doing, asking: string[]): AsyncIterable<AgentAction> {
  const { toolCallId, toolName } = call
  const input = call.input as Input
  const ready = {
    type: 'chat/toolCallReady',
    toolCallId,
    invocationMessage: { markdown: tool.asks(input) },
  } as const
  yield { ...ready, toolInput: inputText(tool, input), confirmed: 'not-needed' }
  try {
    yield* act(toolName, toolCallId, input, doing)
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error
    if (error.errorType !== 'permission') return yield failed(toolCallId, error.message)
    // Only now is it known that somebody has to agree.
    yield { ...ready, confirmationTitle: error.message }
    asking.push(toolCallId)
  }
}

async function* ask(call: Called, tool: Tool, { chat }: Doing, asking: string[]): AsyncIterable<AgentAction> {
  const { toolCallId, toolName } = call
  const input = call.input as Input
  const edits = await attempt(() => proposed(chat, toolName, input))
  if (edits instanceof TurnFailed) return yield* impossible(call, edits.message)
  yield {
    type: 'chat/toolCallReady',
    toolCallId,
    invocationMessage: { markdown: tool.asks(input) },
    toolInput: inputText(tool, input),
    ...(tool.editable !== undefined && { editable: true }),
    ...(edits && { edits }),
  }
  asking.push(toolCallId)
}

/** Waits for as long as it takes, and does what was agreed to. */
async function* settle(toolCallId: string, doing: Doing): AsyncIterable<AgentAction> {
  const state = await doing.chat.when(
    (each) => !undecided.has(callIn(each, toolCallId)?.status ?? 'streaming'),
  )
  const call = callIn(state, toolCallId)
  // Else somebody said no, and the model is told.
  if (call?.status !== 'running') return
  const tool = toolOf(call.toolName)
  // As it was agreed to: it may have been changed.
  const input = tool && typeof call.toolInput === 'string' ? inputOf(tool, call.toolInput) : undefined
  if (!input) return yield failed(toolCallId, 'this cannot be done with that input')
  try {
    yield* act(call.toolName, toolCallId, input, doing)
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error
    yield failed(toolCallId, error.message)
  }
}

const undecided = new Set<ToolCallState['status']>(['streaming', 'pending-confirmation'])

function act(
  toolName: string,
  toolCallId: string,
  input: Input,
  { chat, later }: Doing,
): AsyncIterable<AgentAction> {
  if (!isTool(toolName)) throw new TurnFailed('tools', `there is no tool ${quoted(toolName)}`)
  return acts[toolName]({ chat, toolCallId, input, later })
}

/** Nobody is asked for what cannot be done. */
function* impossible({ toolCallId, toolName, input }: Called, problem: string): Iterable<AgentAction> {
  const invocationMessage = toolOf(toolName)?.displayName ?? quoted(toolName)
  // A line that is none cannot stand for one.
  const toolInput = toolOf(toolName)?.editable === undefined && { toolInput: JSON.stringify(input) ?? '' }
  yield { type: 'chat/toolCallReady', toolCallId, invocationMessage, ...toolInput, confirmed: 'not-needed' }
  yield failed(toolCallId, problem)
}

async function attempt<T>(task: () => Promise<T>): Promise<T | TurnFailed> {
  try {
    return await task()
  } catch (error) {
    if (error instanceof TurnFailed) return error
    throw error
  }
}
