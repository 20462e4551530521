import { knownAgents } from '@atrium/adapters/acp/registry'
import type { AgentSettings } from '@atrium/adapters/acp/registry'

/**
 * The environment of a host whose only agents are the guide and the given ones, whatever is installed on this machine.
 */
export function onlyGuide(agents: AgentSettings = {}): NodeJS.ProcessEnv {
  const none = Object.fromEntries(knownAgents.map((name) => [name, { disabled: true }]))
  const models = { anthropic: false, openai: false }
  return { ATRIUM_AGENTS: JSON.stringify({ ...none, ...agents }), ATRIUM_MODELS: JSON.stringify(models) }
}
