import type { AgentAction } from '../../ports/agent.ts'

/** The text that an action of an agent adds to a response part, or to the preview of a tool's input. */
export interface OutputText {
  /** The id of the part or of the tool call. */
  readonly id: string
  readonly kind: 'markdown' | 'reasoning' | 'input'
  readonly content: string
}

/** Returns the text that an action adds to the state; undefined if it adds none. No schema has checked the action yet. */
export function textIn(output: unknown): OutputText | undefined {
  if (typeof output !== 'object' || output === null) return undefined
  const { type, content, partId, toolCallId, part }: Fields = output
  if (type === 'chat/delta') return textOf('markdown', partId, content)
  if (type === 'chat/reasoning') return textOf('reasoning', partId, content)
  if (type === 'chat/toolCallDelta') return textOf('input', toolCallId, content)
  if (type !== 'chat/responsePart' || typeof part !== 'object' || part === null) return undefined
  const { kind, id, content: text }: Fields = part
  return kind === 'markdown' || kind === 'reasoning' ? textOf(kind, id, text) : undefined
}

interface Fields {
  readonly type?: unknown
  readonly kind?: unknown
  readonly id?: unknown
  readonly content?: unknown
  readonly partId?: unknown
  readonly toolCallId?: unknown
  readonly part?: unknown
}

function textOf(kind: OutputText['kind'], id: unknown, content: unknown): OutputText | undefined {
  return typeof id === 'string' && typeof content === 'string' && content !== ''
    ? { id, kind, content }
    : undefined
}

/** Returns the action with another text. */
export function withText(output: AgentAction, content: string): AgentAction {
  if (
    output.type === 'chat/delta' ||
    output.type === 'chat/reasoning' ||
    output.type === 'chat/toolCallDelta'
  )
    return { ...output, content }
  if (output.type !== 'chat/responsePart') return output
  const { part } = output
  return part.kind === 'markdown' || part.kind === 'reasoning'
    ? { ...output, part: { ...part, content } }
    : output
}

/** Splits a text. A character of two UTF-16 units is not split. */
export function splitAt(text: string, length: number): readonly [string, string] {
  if (length >= text.length) return [text, '']
  const unit = text.charCodeAt(length - 1)
  const at = unit >= 0xd800 && unit <= 0xdbff ? length - 1 : length
  return [text.slice(0, at), text.slice(at)]
}
