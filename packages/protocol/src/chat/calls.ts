import type { ChatState, ResponsePart } from './state.ts'
import type { ToolCallState } from './tool.ts'

/** The tool calls among the parts of a turn. */
export function callsOf(parts: readonly ResponsePart[] = []): readonly ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

/** Finds a tool call in the active turn. */
export function callIn({ activeTurn }: ChatState, toolCallId: string): ToolCallState | undefined {
  return callsOf(activeTurn?.responseParts).find((call) => call.toolCallId === toolCallId)
}
