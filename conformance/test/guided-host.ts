import { guide } from '@atrium/adapters/guide'
import { listen } from '@atrium/adapters/server'
import { memoryStore } from '@atrium/adapters/store/memory'
import { nodeWorld } from '@atrium/adapters/process/world'
import { createHost } from '@atrium/host'

export const token = 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM'

/** What makes the guide ask for approval, and ask questions. */
export const guidePrompts = { toolPrompt: 'run ls', formPrompt: 'ask' }

export interface GuidedHost {
  readonly url: string
  close(): Promise<void>
}

/** Our own host in memory. Its agent is the guide, with a plugin that can be disabled. */
export async function startGuidedHost(): Promise<GuidedHost> {
  const world = nodeWorld(() => {})
  const agent = guide(world.later)
  const customizations = [
    { type: 'plugin', id: 'plugin-1', uri: 'file:///plugins/one', name: 'One' } as const,
    { type: 'plugin', id: 'plugin-2', uri: 'file:///plugins/two', name: 'Two' } as const,
  ]
  const agents = [{ ...agent, info: { ...agent.info, customizations } }]
  const host = await createHost({ store: memoryStore(), world, agents })
  const listening = await listen({ token, connect: (link, principal) => host.connect(link, principal) })
  return {
    url: listening.url,
    async close() {
      const closed = listening.close()
      await host.close()
      await closed
    },
  }
}
