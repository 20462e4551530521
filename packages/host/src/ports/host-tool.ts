import type { ToolCallState } from '@atrium/protocol/chat/tool'

/**
 * A key in the `_meta` of a call that asks for approval. Under it, an agent names the tool of the host that will do
 * the work of the call: `write` or `run`. An empty name means that the agent does the work itself. A permission is
 * for a tool of the host (X2). So it covers the calls with this name here, whatever name the agent program has given
 * to the call.
 */
export const hostToolKey = 'x-atrium.hostTool'

/**
 * The name by which permissions cover a call: that of the host's tool, or the name of the call itself if its agent says nothing
 * about the host. Undefined if no permission covers the call, because its agent does the work.
 */
export function permittedTool(
  toolName: string,
  meta: Pick<ToolCallState, '_meta'>['_meta'],
): string | undefined {
  const tool = meta?.[hostToolKey]
  if (typeof tool !== 'string') return toolName
  return tool === '' ? undefined : tool
}
