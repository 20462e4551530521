import type { AgentInfo } from '@atrium/protocol/root/state'

/** The agent that is always there: it needs no key and no network. What it can do comes with the agent port. */
export const guide: AgentInfo = {
  provider: 'guide',
  displayName: 'Atrium Guide',
  description: 'The built-in agent. It needs no key and no network.',
  models: [],
}
