import type { LanguageModelV3FunctionTool } from '@ai-sdk/provider'
import type { AgentAction, OfferedTool } from '@atrium/host/ports/agent'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'

/** Converts a tool of a client or an MCP server to the form in which a model gets it. */
export function functionOf({ name, definition }: OfferedTool): LanguageModelV3FunctionTool {
  const { title, description } = definition
  return {
    type: 'function',
    name,
    description: description ?? title ?? name,
    inputSchema: objectSchema(definition.inputSchema ?? {}),
  }
}

/**
 * Returns a schema that every provider accepts as the input of a tool. One schema that a provider refuses would make
 * every request of the session fail. So the members that providers refuse at the top level are left out: whoever
 * provides the tool checks its input.
 */
function objectSchema(schema: JsonObject): LanguageModelV3FunctionTool['inputSchema'] {
  const { properties, required, additionalProperties, $defs, definitions } = schema
  const known = Object.keys(isJsonObject(properties) ? properties : {})
  const names = Array.isArray(required) ? required.filter((name) => known.includes(String(name))) : []
  return {
    type: 'object',
    properties: isJsonObject(properties) ? properties : {},
    ...(names.length > 0 && { required: names }),
    ...(typeof additionalProperties === 'boolean' && { additionalProperties }),
    ...(isJsonObject($defs) && { $defs }),
    ...(isJsonObject(definitions) && { definitions }),
  }
}

/**
 * Returns the members of the action that starts a call. `contributor` is the client or server that provides the tool.
 */
export function startOf({ definition, displayName, contributor }: OfferedTool) {
  return { toolName: definition.name, displayName, contributor }
}

/**
 * Returns the action that makes a call ready. The tool then runs, or a person is asked first. The input is passed on
 * as it is: whoever provides the tool checks it and reports what is wrong.
 */
export function readyOf(tool: OfferedTool, toolCallId: string, input: unknown): AgentAction {
  return {
    type: 'chat/toolCallReady',
    toolCallId,
    invocationMessage: { markdown: `Call \`${tool.displayName}\`` },
    toolInput: typeof input === 'string' ? input : JSON.stringify(input),
    ...(!tool.asks && { confirmed: 'not-needed' }),
  }
}
