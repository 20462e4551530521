import { knownAgents } from '@atrium/adapters/agent-acp-find'

/** No agents but the built-in ones, whatever is installed on this machine. */
export const alone = {
  ATRIUM_AGENTS: JSON.stringify(Object.fromEntries(knownAgents.map((name) => [name, { disabled: true }]))),
}
