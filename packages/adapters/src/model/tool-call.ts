import { TurnFailed } from '@atrium/host/ports/agent'
import { messageOf } from '@atrium/protocol/common/content'
import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import { callIn } from '@atrium/protocol/chat/calls'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { isJsonObject } from '@atrium/protocol/json'
import { readyOf } from './offered/offered-tool.ts'
import { storedText, withReview } from './result.ts'
import { toolRuns, failed, proposedEdits } from './tool-runs.ts'
import type { ModelToolCall } from './stream-step.ts'
import { findTool, inputProblem, inputText, isTool, parseInput, quoted } from './tools.ts'
import type { Input, Tool } from './tools.ts'

/** The chat and the timer that tool calls need. */
export interface CallContext {
  readonly chat: Chat
  /** Schedules a task after the maximum duration of a command (`modelLineMs`). Returns a function that cancels the task. */
  later(task: () => void): () => void
}

/**
 * Runs the tool calls of one response. Calls that need no approval run first. Then all other calls ask for approval or are
 * given to those who provide their tools, and only then the first decision is awaited. If the host stops during this wait,
 * only open requests are left, which the next host can continue.
 */
export async function* runCalls(
  calls: readonly ModelToolCall[],
  context: CallContext,
): AsyncIterable<AgentAction> {
  const awaited: string[] = []
  const elsewhere: Promise<unknown>[] = []
  for (const call of calls.toSorted((a, b) => Number(needsNoApproval(b)) - Number(needsNoApproval(a)))) {
    if (call.offered) {
      yield readyOf(call.offered, call.toolCallId, call.input)
      elsewhere.push(endOf(call.toolCallId, context))
      continue
    }
    const tool = findTool(call.toolName)
    const { input } = call
    const problem = tool ? inputProblem(tool, input) : `there is no tool ${quoted(call.toolName)}`
    if (!tool || problem !== undefined || !isJsonObject(input)) yield* failWithoutAsking(call, problem ?? '')
    else if (tool.noApproval) yield* runWithoutApproval({ ...call, input }, tool, context, awaited)
    else yield* askForApproval({ ...call, input }, tool, context, awaited)
  }
  for (const toolCallId of awaited) yield* runWhenApproved(toolCallId, context)
  await Promise.all(elsewhere)
}

/**
 * Waits for the end of a call whose tool a client or an MCP server provides. The host runs a call of an MCP server
 * only when this wait has begun. So the wait begins for all calls before the first one is awaited.
 */
function endOf(toolCallId: string, { chat }: CallContext): Promise<unknown> {
  const ended = chat.tools.ended(toolCallId)
  // The turn may end before anything awaits the promise. Its rejection must not be reported as unhandled.
  ended.catch(() => {})
  return ended
}

/**
 * Continues the calls that an earlier run of the host left open: calls that are not approved yet, and approved calls that
 * were not started.
 */
export async function* resumeCalls(
  { responseParts }: ActiveTurn,
  context: CallContext,
): AsyncIterable<AgentAction> {
  const calls = responseParts
    .flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
    .filter(({ status }) => status === 'pending-confirmation' || status === 'running')
  const elsewhere = calls
    .filter(({ contributor }) => contributor)
    .map(({ toolCallId }) => endOf(toolCallId, context))
  for (const call of calls.filter(({ contributor }) => !contributor)) {
    // Nobody knows what a started call has already done. It must not run twice, so it fails.
    if (call.status === 'running' && call.content !== undefined)
      yield failed(call.toolCallId, 'this was interrupted')
    else yield* runWhenApproved(call.toolCallId, context)
  }
  await Promise.all(elsewhere)
}

/** A call with an input that its tool accepts. */
interface CheckedCall extends ModelToolCall {
  readonly input: Input
}

function needsNoApproval({ toolName, offered }: ModelToolCall): boolean {
  return !offered && findTool(toolName)?.noApproval === true
}

async function* runWithoutApproval(
  call: CheckedCall,
  tool: Tool,
  context: CallContext,
  awaited: string[],
): AsyncIterable<AgentAction> {
  const { toolCallId, toolName, input } = call
  const ready = {
    type: 'chat/toolCallReady',
    toolCallId,
    invocationMessage: { markdown: tool.invocationMessage(input) },
  } as const
  yield { ...ready, toolInput: inputText(tool, input), confirmed: 'not-needed' }
  await context.chat.files.writesOnly(toolCallId, [])
  try {
    yield* withReview(runTool(toolName, toolCallId, input, context))
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error
    if (error.errorType !== 'permission') return yield failed(toolCallId, error.message)
    // The path is a protected file. This was not known before the attempt. So the call asks for approval now.
    yield { ...ready, confirmationTitle: error.message }
    awaited.push(toolCallId)
  }
}

async function* askForApproval(
  call: CheckedCall,
  tool: Tool,
  { chat }: CallContext,
  awaited: string[],
): AsyncIterable<AgentAction> {
  const { toolCallId, toolName, input } = call
  const edits = await attempt(() => proposedEdits(chat, toolName, input))
  if (edits instanceof TurnFailed) return yield* failWithoutAsking(call, edits.message)
  yield {
    type: 'chat/toolCallReady',
    toolCallId,
    invocationMessage: { markdown: tool.invocationMessage(input) },
    toolInput: inputText(tool, input),
    ...(tool.editable !== undefined && { editable: true }),
    ...(edits && { edits }),
  }
  awaited.push(toolCallId)
}

/** Waits for the user's decision, without a time limit, and runs the call if it was approved. */
async function* runWhenApproved(toolCallId: string, context: CallContext): AsyncIterable<AgentAction> {
  // The request for approval may not be committed yet. Without this wait, a call that ran first and then asked for approval
  // would look as if it were approved.
  await context.chat.settled()
  const state = await context.chat.when(
    (each) => !undecided.has(callIn(each, toolCallId)?.status ?? 'streaming'),
  )
  const call = callIn(state, toolCallId)
  // A denial has already ended the call. The model learns of the denial from the result of the call.
  if (call?.status !== 'running') return
  const tool = findTool(call.toolName)
  // The state contains the approved input, including the user's changes.
  const input = tool && parseInput(tool, await storedText(call.toolInput, context.chat))
  if (!input) return yield failed(toolCallId, 'the approved input is invalid')
  try {
    const actions = runTool(call.toolName, toolCallId, input, context)
    // If the tool needs no approval, the user was asked because of a protected file, and has allowed the model to see
    // it. So the result needs no review.
    yield* tool.noApproval ? actions : withReview(actions)
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error
    yield failed(toolCallId, error.message)
  }
}

const undecided = new Set<ToolCallState['status']>(['streaming', 'pending-confirmation'])

function runTool(
  toolName: string,
  toolCallId: string,
  input: Input,
  { chat, later }: CallContext,
): AsyncIterable<AgentAction> {
  if (!isTool(toolName)) throw new TurnFailed('tools', `there is no tool ${quoted(toolName)}`)
  return toolRuns[toolName]({ chat, toolCallId, input, later })
}

/** Ends a call that cannot run. No user is asked for approval. */
function* failWithoutAsking(
  { toolCallId, toolName, input }: ModelToolCall,
  problem: string,
): Iterable<AgentAction> {
  const invocationMessage = messageOf(findTool(toolName)?.displayName ?? quoted(toolName))
  // A tool with an editable input stores the text of its only field as `toolInput`. Here this field may be missing,
  // because the input is invalid. So `toolInput` is left out for such a tool.
  const toolInput = findTool(toolName)?.editable === undefined && { toolInput: JSON.stringify(input) ?? '' }
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
