import { knownAgents } from '@atrium/adapters/agent-acp-find'
import type { AgentSettings } from '@atrium/adapters/agent-acp-find'

/** No agents but the built-in ones and these, whatever is installed on this machine. */
export function alone(agents: AgentSettings = {}): { readonly ATRIUM_AGENTS: string } {
  const none = Object.fromEntries(knownAgents.map((name) => [name, { disabled: true }]))
  return { ATRIUM_AGENTS: JSON.stringify({ ...none, ...agents }) }
}
