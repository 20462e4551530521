import type { AgentAction } from '@atrium/host/ports/agent'
import type { ReasoningPart } from '@atrium/protocol/chat/state'
import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider'
import { noted } from './meta.ts'
import type { Telling } from './stream-progress.ts'
import { toolOf } from './tools.ts'

/** A call that the model made, under the name that it has in the chat. */
export interface Called {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

/** What a model did when it was asked once. */
export interface Stepped {
  readonly calls: readonly Called[]
  readonly usage?: LanguageModelV3Usage
  /** Absent where it broke off. */
  readonly finish?: string
}

/** Says what a model streams, as it comes. Throws what the stream says went wrong. */
export async function* stepped(
  stream: AsyncIterable<LanguageModelV3StreamPart>,
  telling: Telling,
): AsyncGenerator<AgentAction, Stepped> {
  const step = telling.parts
  const open = telling.openText
  const calls: Called[] = []
  // The model's own names for what it says, and ours.
  const texts = new Map<string, string>()
  const started = new Map<string, string>()
  const thoughts = new Thoughts(telling)
  const begin = function* (id: string, toolName: string): Iterable<AgentAction> {
    const toolCallId = telling.newId()
    started.set(id, toolCallId)
    const displayName = toolOf(toolName)?.displayName ?? toolName
    yield { type: 'chat/toolCallStart', toolCallId, toolName, displayName, ...noted({ step }) }
  }
  let usage: LanguageModelV3Usage | undefined
  let finish: string | undefined
  for await (const part of stream) {
    if (part.type === 'text-delta' && part.delta !== '') {
      // Only what is said first can go on with what was cut off.
      const begun = texts.get(part.id) ?? (telling.parts === step && texts.size === 0 ? open : undefined)
      const partId = begun ?? telling.newId()
      texts.set(part.id, partId)
      telling.wrote(partId, part.delta.length)
      // Never empty: it could not be seen later that a text was begun.
      if (begun !== undefined) yield { type: 'chat/delta', partId, content: part.delta }
      else yield { type: 'chat/responsePart', part: { kind: 'markdown', id: partId, content: part.delta } }
    } else if (part.type === 'reasoning-delta' && part.delta !== '') {
      yield* thoughts.think(part.id, part.delta)
    } else if (part.type === 'tool-input-start') {
      yield* begin(part.id, part.toolName)
    } else if (part.type === 'tool-input-delta' && part.delta !== '') {
      const toolCallId = started.get(part.id)
      if (toolCallId !== undefined) yield { type: 'chat/toolCallDelta', toolCallId, content: part.delta }
    } else if (part.type === 'tool-call') {
      if (!started.has(part.toolCallId)) yield* begin(part.toolCallId, part.toolName)
      const toolCallId = started.get(part.toolCallId) ?? ''
      calls.push({ toolCallId, toolName: part.toolName, input: parsed(part.input) })
    } else if (part.type === 'finish') {
      usage = part.usage
      const { unified, raw } = part.finishReason
      // So a stream ends that was cut off.
      if (unified !== 'other' || raw !== undefined) finish = unified
    } else if (part.type === 'error') throw part.error
  }
  return { calls, ...(usage && { usage }), ...(finish !== undefined && { finish }) }
}

/** What is no JSON stays a text, which no tool takes. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input.trim() === '' ? '{}' : input)
  } catch {
    return input
  }
}

/** What the model thinks. Thoughts that were cut off are thought again: as far as they are the same they are not said twice. */
class Thoughts {
  readonly #telling: Telling
  readonly #ids = new Map<string, string>()
  /** What stands there, and what was thought again of it. */
  #before: ReasoningPart | undefined
  #again = ''

  constructor(telling: Telling) {
    this.#telling = telling
    this.#before = telling.openThought
  }

  *think(id: string, text: string): Iterable<AgentAction> {
    const before = this.#before
    if (!before) return yield* this.#say(id, text)
    this.#again += text
    if (before.content.startsWith(this.#again)) return
    this.#before = undefined
    const same = this.#again.startsWith(before.content)
    if (same) this.#ids.set(id, before.id)
    yield* this.#say(id, same ? this.#again.slice(before.content.length) : this.#again)
  }

  *#say(id: string, content: string): Iterable<AgentAction> {
    const begun = this.#ids.get(id)
    const partId = begun ?? this.#telling.newId()
    this.#ids.set(id, partId)
    if (begun !== undefined) yield { type: 'chat/reasoning', partId, content }
    else yield { type: 'chat/responsePart', part: { kind: 'reasoning', id: partId, content } }
  }
}
