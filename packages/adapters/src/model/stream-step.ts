import type { AgentAction, OfferedTool } from '@atrium/host/ports/agent'
import type { ReasoningPart } from '@atrium/protocol/chat/state'
import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider'
import { toMeta } from './meta.ts'
import { startOf } from './offered/offered-tool.ts'
import type { StreamProgress } from './stream-progress.ts'
import { findTool } from './tools.ts'

/** A tool call of the model. The id is the call's id in the chat, and not the model's own id. */
export interface ModelToolCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  /** The tool, if it is not one of the agent's own tools. */
  readonly offered?: OfferedTool
}

/** The outcome of one request to a model. */
export interface StepResult {
  readonly calls: readonly ModelToolCall[]
  readonly usage?: LanguageModelV3Usage
  /** Why the response ended. Undefined if the stream was cut off. */
  readonly finish?: string
}

/**
 * Converts the stream of one response to actions. Throws the error that the stream reports. `offered` are the tools of clients
 * and MCP servers that the request contained.
 */
export async function* streamStep(
  stream: AsyncIterable<LanguageModelV3StreamPart>,
  progress: StreamProgress,
  offered: readonly OfferedTool[],
): AsyncGenerator<AgentAction, StepResult> {
  const step = progress.partCount
  const interruptedText = progress.lastTextId
  const calls: ModelToolCall[] = []
  // These maps lead from the model's ids of texts and calls to the ids in the chat.
  const texts = new Map<string, string>()
  const started = new Map<string, string>()
  const reasoning = new ReasoningStream(progress)
  const offeredTool = (toolName: string) => offered.find(({ name }) => name === toolName)
  const startCall = function* (id: string, toolName: string): Iterable<AgentAction> {
    const toolCallId = progress.newPartId()
    started.set(id, toolCallId)
    const tool = offeredTool(toolName)
    const own = { toolName, displayName: findTool(toolName)?.displayName ?? toolName }
    const meta = toMeta({ step, ...(tool && { offered: toolName }) })
    yield { type: 'chat/toolCallStart', toolCallId, ...(tool ? startOf(tool) : own), ...meta }
  }
  let usage: LanguageModelV3Usage | undefined
  let finish: string | undefined
  for await (const part of stream) {
    if (part.type === 'text-delta' && part.delta !== '') {
      // Only the first text of a response can continue the interrupted text.
      const existing =
        texts.get(part.id) ?? (progress.partCount === step && texts.size === 0 ? interruptedText : undefined)
      const partId = existing ?? progress.newPartId()
      texts.set(part.id, partId)
      progress.addText(partId, part.delta.length)
      // A new part is sent with its first text. An empty part would look as if the model had written nothing.
      if (existing !== undefined) yield { type: 'chat/delta', partId, content: part.delta }
      else yield { type: 'chat/responsePart', part: { kind: 'markdown', id: partId, content: part.delta } }
    } else if (part.type === 'reasoning-delta' && part.delta !== '') {
      yield* reasoning.add(part.id, part.delta)
    } else if (part.type === 'tool-input-start') {
      yield* startCall(part.id, part.toolName)
    } else if (part.type === 'tool-input-delta' && part.delta !== '') {
      const toolCallId = started.get(part.id)
      if (toolCallId !== undefined) yield { type: 'chat/toolCallDelta', toolCallId, content: part.delta }
    } else if (part.type === 'tool-call') {
      if (!started.has(part.toolCallId)) yield* startCall(part.toolCallId, part.toolName)
      const toolCallId = started.get(part.toolCallId) ?? ''
      const tool = offeredTool(part.toolName)
      const input = parsedInput(part.input)
      calls.push({ toolCallId, toolName: part.toolName, input, ...(tool && { offered: tool }) })
    } else if (part.type === 'finish') {
      usage = part.usage
      const { unified, raw } = part.finishReason
      // If the stream was cut off, the model library reports the reason `other` without a raw reason.
      if (unified !== 'other' || raw !== undefined) finish = unified
    } else if (part.type === 'error') throw part.error
  }
  return { calls, ...(usage && { usage }), ...(finish !== undefined && { finish }) }
}

/** Parses the input of a call. Invalid JSON is returned as text. The input check of every tool refuses text. */
function parsedInput(input: string): unknown {
  try {
    return JSON.parse(input.trim() === '' ? '{}' : input)
  } catch {
    return input
  }
}

/**
 * Streams the reasoning of the model. After an interruption the model reasons again from the start. As long as the new
 * reasoning equals the stored reasoning, it is not written again.
 */
class ReasoningStream {
  readonly #progress: StreamProgress
  readonly #ids = new Map<string, string>()
  /** The interrupted reasoning part. Undefined as soon as the new reasoning differs from it. */
  #cutOff: ReasoningPart | undefined
  /** The new reasoning so far. It is compared with the interrupted part. */
  #repeated = ''

  constructor(progress: StreamProgress) {
    this.#progress = progress
    this.#cutOff = progress.lastReasoning
  }

  *add(id: string, text: string): Iterable<AgentAction> {
    const cutOff = this.#cutOff
    if (!cutOff) return yield* this.#emit(id, text)
    this.#repeated += text
    if (cutOff.content.startsWith(this.#repeated)) return
    this.#cutOff = undefined
    const same = this.#repeated.startsWith(cutOff.content)
    if (same) this.#ids.set(id, cutOff.id)
    yield* this.#emit(id, same ? this.#repeated.slice(cutOff.content.length) : this.#repeated)
  }

  *#emit(id: string, content: string): Iterable<AgentAction> {
    const existing = this.#ids.get(id)
    const partId = existing ?? this.#progress.newPartId()
    this.#ids.set(id, partId)
    if (existing !== undefined) yield { type: 'chat/reasoning', partId, content }
    else yield { type: 'chat/responsePart', part: { kind: 'reasoning', id: partId, content } }
  }
}
