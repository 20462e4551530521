import type { Agent } from '@atrium/host/ports/agent'

/** The agent that is always there: it needs no key and no network. */
export const guide: Agent = {
  info: {
    provider: 'guide',
    displayName: 'Atrium Guide',
    description: 'The built-in agent. It needs no key and no network.',
    models: [],
    capabilities: { multipleChats: {} },
  },
  resumes: false,
  async *run() {},
}
