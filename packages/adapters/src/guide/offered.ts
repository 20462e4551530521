import type { AgentAction, Chat, OfferedTool } from '@atrium/host/ports/agent'
import { callsOf } from '@atrium/protocol/chat/calls'
import type { ActiveTurn, ToolCallPart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { textOf } from '@atrium/protocol/common/content'
import { isJsonObject } from '@atrium/protocol/json'
import { plainText } from '@atrium/protocol/text/plain'
import type { OfferedStep, Script } from './script.ts'
import { pathAndRest } from './tools.ts'
import { quoted } from './words.ts'

/**
 * Returns the two scripts that could answer `call <tool> {json}`: with the tool and without it, the likelier one
 * first. The tool may come or go while a turn is interrupted, and the resumed turn must find the script with which it
 * began. Undefined if the input is no JSON object.
 */
export function callScripts(
  rest: string,
  tools: readonly OfferedTool[],
  ms: number,
): readonly [Script, Script] | undefined {
  const [name, given] = pathAndRest(rest)
  const input = given.trim() === '' ? '{}' : given.trim()
  if (name === '' || !isObjectText(input)) return undefined
  const call: Script = [
    { kind: 'toolCall', offered: name, input },
    { kind: 'markdown', text: calledText, ms },
  ]
  const refusal: Script = [{ kind: 'markdown', text: unknownTool(name, tools), ms }]
  return tools.some((tool) => tool.name === name) ? [call, refusal] : [refusal, call]
}

/** Calls a tool of the session and waits for the end of the call. `target` is the id for a new call, or an open call. */
export async function* callOffered(
  { offered: name, input }: OfferedStep,
  chat: Chat,
  target: ToolCallPart | string,
): AsyncIterable<AgentAction> {
  const toolCallId = typeof target === 'string' ? target : target.toolCall.toolCallId
  const isOpen = typeof target !== 'string' && target.toolCall.status !== 'streaming'
  const tool = isOpen ? undefined : chat.tools.list().find((each) => each.name === name)
  if (typeof target === 'string' && tool) {
    const { definition, displayName, contributor } = tool
    yield {
      type: 'chat/toolCallStart',
      toolCallId,
      toolName: definition.name,
      displayName,
      intention: `Call ${displayName}`,
      contributor,
    }
    for (const [content] of input.matchAll(/[\s\S]{1,64}/gu))
      yield { type: 'chat/toolCallDelta', toolCallId, content }
  }
  if (tool) {
    const invocationMessage = { markdown: `Call ${quoted(tool.displayName)}` }
    const confirmed = tool.asks ? {} : { confirmed: 'not-needed' as const }
    yield { type: 'chat/toolCallReady', toolCallId, invocationMessage, toolInput: input, ...confirmed }
  }
  if (tool ?? isOpen) await chat.tools.ended(toolCallId)
}

/** Returns the text that the guide says after a call. It is empty until the call has ended. */
export function calledText({ responseParts }: ActiveTurn): string {
  const call = callsOf(responseParts).findLast(({ contributor }) => contributor)
  if (call?.status === 'completed') return resultText(call)
  if (call?.status !== 'cancelled') return ''
  if (call.reason === 'skipped') return 'The call was interrupted. I do not know what it has done.'
  const reason = call.reasonMessage === undefined ? '' : ` ${plain(textOf(call.reasonMessage))}`
  return `The call was not allowed.${reason}`
}

function resultText(call: Extract<ToolCallState, { readonly status: 'completed' }>): string {
  const texts = (call.content ?? []).flatMap((each) => (each.type === 'text' ? [each.text] : []))
  const message = plain(textOf(call.pastTenseMessage))
  if (!call.success) return `The call failed: ${plain(call.error?.message ?? '') || message}`
  return plain(texts.join('\n')) || message || 'The call has ended.'
}

/** Shortens a text of a client to 4000 characters, because it may have a megabyte. */
function plain(text: string): string {
  return plainText(text, 4000)
}

function unknownTool(name: string, tools: readonly OfferedTool[]): string {
  const names = tools.slice(0, 20).map((tool) => quoted(tool.name))
  const more = tools.length > names.length ? ` and ${tools.length - names.length} more` : ''
  const there =
    names.length === 0
      ? 'No client offers a tool to this session.'
      : `The tools of this session are ${names.join(', ')}${more}.`
  return `There is no tool ${quoted(name)}. ${there}`
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text))
  } catch {
    return false
  }
}
