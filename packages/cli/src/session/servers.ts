import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { McpServerCustomization } from '@atrium/protocol/session/customization'
import type { SessionState } from '@atrium/protocol/session/state'

/** Returns the MCP servers of a session: those of the host's config, and those of plugins. */
export function serversOf({ customizations = [] }: SessionState): readonly McpServerCustomization[] {
  return customizations.flatMap((each) => {
    if (each.type === 'mcpServer') return [each]
    return (each.children ?? []).flatMap((child) => (child.type === 'mcpServer' ? [child] : []))
  })
}

/** An MCP server that waits for a sign-in. */
export interface WaitingServer {
  readonly name: string
  readonly resource: ProtectedResourceMetadata
}

/** Returns the MCP servers of a session that wait for a sign-in. */
export function waitingServers(session: SessionState): readonly WaitingServer[] {
  return serversOf(session).flatMap(({ name, state }) =>
    state.kind === 'authRequired' ? [{ name, resource: state.resource }] : [],
  )
}
