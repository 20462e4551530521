import { isDeepStrictEqual } from 'node:util'
import { AhpError } from '@atrium/protocol/errors'
import type { AcpSession } from './acp-session.ts'
import { configKey } from './config-options.ts'
import type { ConfigOption } from './config-options.ts'
import type { TurnParts } from './turn-parts.ts'
import { oneLine } from './calls/tool-call.ts'
import { findCustomization, isSupported, stateOf } from './process/mcp-servers.ts'

/** Sets the options of an ACP session to the values that users chose. Then reports the values that the agent has. */
export async function applyOptions(session: AcpSession, parts: TurnParts): Promise<void> {
  const { chat, launcher } = parts
  const values = chat.session.config?.values ?? {}
  const chosen = (option: ConfigOption) =>
    option.isModel
      ? chat.state.activeTurn?.message.model?.id
      : values[configKey(launcher.program.name, option)]
  for (const option of session.options) {
    const value = chosen(option)
    if ((typeof value !== 'string' && typeof value !== 'boolean') || value === option.current) continue
    await session.setOption(option, value).catch((error: unknown) => {
      if (!(error instanceof AhpError)) throw error
      const problem = `${option.title} cannot be set to ${JSON.stringify(value)} (${error.message})`
      throw launcher.failure(problem, 'settings')
    })
  }
  reportOptions(session.options, parts)
}

/** Reports option values of the agent that differ from the session's config. */
export function reportOptions(options: readonly ConfigOption[], { chat, launcher, output }: TurnParts): void {
  const { values = {} } = chat.session.config ?? {}
  const changed = options.flatMap((option) => {
    const key = configKey(launcher.program.name, option)
    return option.current !== undefined && values[key] !== option.current
      ? [[key, option.current] as const]
      : []
  })
  if (changed.length > 0) output.write({ type: 'session/configChanged', config: Object.fromEntries(changed) })
}

/** Reports the state of each MCP server: whether the ACP session got it, and whether the agent supports it. */
export function reportServers(
  { connection, context: given }: AcpSession,
  { chat, launcher, output, context }: TurnParts,
): void {
  const capabilities = connection.initialized.agentCapabilities
  for (const server of launcher.context.mcpServers ?? []) {
    const shown = findCustomization(server, chat.session.customizations)
    // The agent is never given a server that it does not support. For such a server the chat's wish counts: if the
    // server is switched on, its state is an error that users see.
    const { mcpServers } = isSupported(server, capabilities) ? given : context
    const isGiven = mcpServers.some(({ name }) => name === server.name)
    const state = stateOf(server, isGiven, capabilities)
    if (shown && !isDeepStrictEqual(shown.state, state))
      output.write({ type: 'session/mcpServerStateChanged', id: shown.id, state })
  }
}

/** Reports the title of an ACP session as the title of the host's session. Only the default chat of the session does so. */
export function reportTitle(session: AcpSession, { chat, output }: TurnParts): void {
  const title = oneLine(session.title, maxTitleLength)
  const isDefault = (chat.session.defaultChat ?? chat.uri) === chat.uri
  if (title !== undefined && isDefault && title !== chat.session.title)
    output.write({ type: 'session/titleChanged', title })
}

const maxTitleLength = 200
