import type { ToolCallState } from '@atrium/protocol/chat/tool'

/**
 * The key in the `_meta` of a call that asks for approval, under which an agent names the tool of the host that does the work of
 * the call: `write` or `run`. An empty name: the agent does the work itself. Users permit tools of the host (X2), so a permission
 * covers a call by this name, and never by a name that an agent program has given to its call.
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
