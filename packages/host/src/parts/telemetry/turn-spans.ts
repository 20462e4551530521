import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { JsonObject } from '@atrium/protocol/json'
import { span } from './span.ts'
import type { Began } from './span.ts'
import { spanIdOf, traceIdOf, traceparentOf } from './span-ids.ts'

/** What is known of a chat beside its actions. */
export interface About {
  readonly session: Uri
  readonly agent: string | undefined
}

interface Parts {
  readonly now: () => number
  readonly about: (chat: Uri) => About | undefined
  readonly emit: (span: JsonObject) => void
}

/** The open spans of an active turn: that of the turn, and those of its model call and tool calls that have not ended. */
interface OpenTurn extends Began {
  readonly turnId: string
  readonly about: About
  readonly model: string | undefined
  readonly calls: Map<string, Began & { readonly tool: string }>
  /** The model call: the time in which the agent works and no tool call does. */
  modelCall: Began | undefined
  modelCalls: number
  input: number | undefined
  output: number | undefined
}

/**
 * Spans of turns, of the model calls and of the tool calls in them, made from the committed actions of chats. A worker's turn is in the
 * trace of the tool call that has started it.
 */
export class TurnSpans {
  readonly #parts: Parts
  readonly #open = new Map<Uri, OpenTurn>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The trace context of what a chat does now, for programs that work for its turn. */
  traceparent(chat: Uri, turnId: string): string {
    const turn = this.#open.get(chat)
    if (turn?.turnId === turnId) return traceparentOf(turn.traceId, turn.spanId)
    return traceparentOf(traceIdOf(chat, turnId), spanIdOf(chat, turnId))
  }

  committed(chat: Uri, state: ChatState, action: Action): void {
    const follow = rows.get(action.type)
    // The row was found by the type of the action, and its schema has checked the action.
    follow?.(this, { chat, state, action: action as never })
  }

  /** Forgets the turns of a session that is gone. */
  disposed(session: Uri): void {
    for (const [chat, { about }] of this.#open) if (about.session === session) this.#open.delete(chat)
  }

  begin(chat: Uri, state: ChatState, turnId: string): void {
    const about = this.#parts.about(chat)
    if (!about) return
    const parent = this.#parentOf(state)
    const traceId = parent?.traceId ?? traceIdOf(chat, turnId)
    const at = this.#parts.now()
    const turn: OpenTurn = {
      traceId,
      spanId: spanIdOf(chat, turnId),
      parentSpanId: parent?.spanId,
      at,
      turnId,
      about,
      model: state.activeTurn?.message.model?.id,
      calls: new Map(),
      modelCall: undefined,
      modelCalls: 0,
      input: undefined,
      output: undefined,
    }
    this.#open.set(chat, turn)
    this.#think(chat, turn)
  }

  end(chat: Uri, turnId: string, error?: string): void {
    const turn = this.#open.get(chat)
    if (turn?.turnId !== turnId) return
    this.#open.delete(chat)
    this.#thought(chat, turn)
    for (const toolCallId of turn.calls.keys()) this.#callEnded(chat, turn, toolCallId, 'cancelled')
    const { agent } = turn.about
    this.#emit(chat, turn, turn, {
      name: agent === undefined ? 'invoke_agent' : `invoke_agent ${agent}`,
      error,
      values: { 'gen_ai.operation.name': 'invoke_agent', ...usageOf(turn) },
    })
  }

  callBegan(chat: Uri, toolCallId: string, tool: string): void {
    const turn = this.#open.get(chat)
    if (!turn) return
    const { traceId, spanId } = turn
    const id = spanIdOf(chat, turn.turnId, toolCallId)
    turn.calls.set(toolCallId, { traceId, spanId: id, parentSpanId: spanId, at: this.#parts.now(), tool })
  }

  /** The model has said all of a call, so that the call, and not the model, takes the time from now on. */
  callReady(chat: Uri): void {
    const turn = this.#open.get(chat)
    if (turn) this.#thought(chat, turn)
  }

  callEnded(chat: Uri, toolCallId: string, error?: string): void {
    const turn = this.#open.get(chat)
    if (!turn?.calls.has(toolCallId)) return
    this.#thought(chat, turn)
    this.#callEnded(chat, turn, toolCallId, error)
    if (turn.calls.size === 0) this.#think(chat, turn)
  }

  used(chat: Uri, input: number | undefined, output: number | undefined): void {
    const turn = this.#open.get(chat)
    if (!turn) return
    turn.input = input
    turn.output = output
    this.#thought(chat, turn)
  }

  #think(chat: Uri, turn: OpenTurn): void {
    const { traceId, spanId, turnId } = turn
    const id = spanIdOf(chat, turnId, 'model call', String(turn.modelCalls++))
    turn.modelCall = { traceId, spanId: id, parentSpanId: spanId, at: this.#parts.now() }
  }

  #thought(chat: Uri, turn: OpenTurn): void {
    const { modelCall, model } = turn
    turn.modelCall = undefined
    if (!modelCall) return
    this.#emit(chat, turn, modelCall, {
      name: model === undefined ? 'chat' : `chat ${model}`,
      values: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model },
    })
  }

  #callEnded(chat: Uri, turn: OpenTurn, toolCallId: string, error: string | undefined): void {
    const call = turn.calls.get(toolCallId)
    turn.calls.delete(toolCallId)
    if (!call) return
    this.#emit(chat, turn, call, {
      name: `execute_tool ${call.tool}`,
      error,
      values: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': call.tool,
        'gen_ai.tool.call.id': toolCallId,
        'ahp.tool_call.id': toolCallId,
      },
    })
  }

  #emit(
    chat: Uri,
    { about, turnId }: OpenTurn,
    began: Began,
    { name, error, values }: { name: string; error?: string | undefined; values: object },
  ): void {
    const common = {
      'ahp.session.id': about.session,
      'ahp.chat.id': chat,
      'ahp.turn.id': turnId,
      'gen_ai.conversation.id': about.session,
      'gen_ai.agent.name': about.agent,
    }
    this.#parts.emit(span(began, this.#parts.now(), { name, error, values: { ...common, ...values } }))
  }

  /** The tool call that has started a worker. */
  #parentOf({ origin }: ChatState): Began | undefined {
    return origin?.kind === 'tool' ? this.#open.get(origin.chat)?.calls.get(origin.toolCallId) : undefined
  }
}

function usageOf({ input, output }: OpenTurn): object {
  return { 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output }
}

interface Given<A> {
  readonly chat: Uri
  readonly state: ChatState
  readonly action: A
}

type Rows = {
  readonly [T in ChatAction['type']]?: (
    spans: TurnSpans,
    given: Given<Extract<ChatAction, { readonly type: T }>>,
  ) => void
}

const table: Rows = {
  'chat/turnStarted': (spans, { chat, state, action }) => spans.begin(chat, state, action.turnId),
  'chat/turnResume': (spans, { chat, state, action }) => spans.begin(chat, state, action.turnId),
  'chat/turnComplete': (spans, { chat, action }) => spans.end(chat, action.turnId),
  'chat/turnCancelled': (spans, { chat, action }) => spans.end(chat, action.turnId, 'cancelled'),
  'chat/error': (spans, { chat, action }) => spans.end(chat, action.turnId, action.part.error.errorType),
  'chat/toolCallStart': (spans, { chat, action }) =>
    spans.callBegan(chat, action.toolCallId, action.toolName),
  'chat/toolCallReady': (spans, { chat }) => spans.callReady(chat),
  'chat/toolCallConfirmed': (spans, { chat, action }) =>
    action.approved ? undefined : spans.callEnded(chat, action.toolCallId, action.reason),
  'chat/toolCallComplete': (spans, { chat, action }) =>
    spans.callEnded(chat, action.toolCallId, action.result.success ? undefined : 'failed'),
  'chat/usage': (spans, { chat, action: { usage } }) =>
    spans.used(chat, usage.inputTokens, usage.outputTokens),
}

// A map, because the type of an action may be `__proto__`. The cast drops the type of the action, by which the row is found.
const rows = new Map(Object.entries(table) as [string, (spans: TurnSpans, given: Given<never>) => void][])
