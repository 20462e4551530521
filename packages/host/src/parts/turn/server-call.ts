import { callIn } from '@atrium/protocol/chat/calls'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ToolCallResult, ToolCallState } from '@atrium/protocol/chat/tool'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { compact } from '@atrium/protocol/update'
import { McpAuthRequired, McpFailed } from '../../ports/mcp.ts'
import type { McpAnswers, McpCall, McpQuestions, McpServer } from '../../ports/mcp.ts'
import { when } from './running-turn.ts'
import type { RunningTurn } from './running-turn.ts'

/** A server, and its name as users see it. */
export interface NamedServer {
  readonly server: McpServer
  readonly label: string
}

type Running = Extract<ToolCallState, { readonly status: 'running' }>

/**
 * Runs an approved call of a tool of an MCP server, and completes it. A call runs once (I6): if the host stops while the call
 * runs, the turn ends, and the end of a turn cancels its calls.
 */
export async function runServerCall(
  turn: RunningTurn,
  toolCallId: string,
  server: NamedServer,
): Promise<void> {
  const approved = await when(turn, turn.chat, (state) => isDecided(callIn(state, toolCallId)))
  const call = callIn(approved, toolCallId)
  if (call?.status !== 'running') return
  complete(turn, call, await resultOf(turn, call, server))
}

async function resultOf(turn: RunningTurn, call: Running, server: NamedServer): Promise<ToolCallResult> {
  try {
    const input = inputOf(call)
    if (!input) return failure('The input of this tool is not a JSON object.')
    const result = await server.server.call(call.toolName, input, callContext(turn, call, server.label))
    return { ...result, pastTenseMessage: `Called ${server.label}: ${call.toolName}` }
  } catch (error) {
    if (turn.signal.aborted) throw error
    if (error instanceof McpAuthRequired) return signedIn(turn, call, server, error)
    if (!(error instanceof McpFailed)) turn.core.world.report('a tool of an MCP server failed', error)
    return failure(error instanceof McpFailed ? error.message : 'The tool failed.')
  }
}

/** Asks a user to authorize the call, and then calls the tool again. */
async function signedIn(
  turn: RunningTurn,
  call: Running,
  server: NamedServer,
  { requirement, message }: McpAuthRequired,
): Promise<ToolCallResult> {
  const { toolCallId } = call
  append(turn, { type: 'chat/toolCallAuthRequired', turnId: turn.turnId, toolCallId, auth: requirement })
  await turn.core.log.reached(turn.core.log.last)
  const state = await when(turn, turn.chat, (each) => callIn(each, toolCallId)?.status !== 'auth-required')
  const now = callIn(state, toolCallId)
  return now?.status === 'running' ? resultOf(turn, now, server) : failure(message)
}

function callContext(turn: RunningTurn, { toolCallId }: Running, label: string): McpCall {
  const { turnId } = turn
  return {
    signal: turn.signal,
    progress: ({ message, fraction }) => {
      const percent = fraction === undefined ? [] : [`${Math.round(fraction * 100)} %`]
      const text = [...percent, ...(message === undefined ? [] : [message])].join(' ')
      if (text !== '' && callIn(turn.chat.head, toolCallId)?.status === 'running')
        append(turn, {
          type: 'chat/toolCallContentChanged',
          turnId,
          toolCallId,
          content: [{ type: 'text', text }],
        })
    },
    elicit: (questions) => ask(turn, withAsker(questions, label)),
  }
}

/** Returns the questions with a first line that says who asks them. A person may be asked for a secret. */
function withAsker({ message, ...questions }: McpQuestions, label: string): McpQuestions {
  const asks = `${label} asks:`
  return { ...questions, message: message === undefined ? asks : `${asks}\n\n${message}` }
}

/** Shows the questions of a server to the users of the chat, and waits for the answers. */
async function ask(turn: RunningTurn, questions: McpQuestions): Promise<McpAnswers> {
  const id = turn.core.world.id()
  append(turn, { type: 'chat/inputRequested', request: { ...questions, id } })
  const state = await when(
    turn,
    turn.chat,
    (each) => answered(each.activeTurn?.responseParts, id) !== undefined,
  )
  return answered(state.activeTurn?.responseParts, id) ?? { response: 'cancel' }
}

type Parts = NonNullable<RunningTurn['chat']['head']['activeTurn']>['responseParts']

function answered(parts: Parts = [], id: string): McpAnswers | undefined {
  for (const part of parts)
    if (part.kind === 'inputRequest' && part.request.id === id && part.response !== undefined)
      return compact<McpAnswers>({ response: part.response, answers: part.request.answers })
  return undefined
}

function complete(turn: RunningTurn, { toolCallId }: Running, result: ToolCallResult): void {
  if (turn.signal.aborted || callIn(turn.chat.head, toolCallId)?.status !== 'running') return
  append(turn, { type: 'chat/toolCallComplete', turnId: turn.turnId, toolCallId, result })
}

function append(turn: RunningTurn, action: ChatAction): void {
  turn.flushText()
  turn.core.log.append(turn.chat, action)
}

function failure(message: string): ToolCallResult {
  return { success: false, pastTenseMessage: message, error: { message } }
}

function isDecided(call: ToolCallState | undefined): boolean {
  return call === undefined || !['streaming', 'pending-confirmation'].includes(call.status)
}

function inputOf({ toolInput = '{}' }: Running): JsonObject | undefined {
  if (typeof toolInput !== 'string') return undefined
  try {
    const input: unknown = JSON.parse(toolInput === '' ? '{}' : toolInput)
    return isJsonObject(input) ? input : undefined
  } catch {
    return undefined
  }
}
