import { knownAgents } from '@atrium/adapters/acp/registry'
import type { AgentSettings } from '@atrium/adapters/acp/registry'

/** No agents but the guide and these, whatever is installed on this machine. */
export function alone(agents: AgentSettings = {}): NodeJS.ProcessEnv {
  const none = Object.fromEntries(knownAgents.map((name) => [name, { disabled: true }]))
  const models = { anthropic: false, openai: false }
  return { ATRIUM_AGENTS: JSON.stringify({ ...none, ...agents }), ATRIUM_MODELS: JSON.stringify(models) }
}
