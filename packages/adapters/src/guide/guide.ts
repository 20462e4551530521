import { withReadiness } from '@atrium/protocol/root/readiness'
import type { Agent, Chat, AgentAction } from '@atrium/host/ports/agent'
import type { World } from '@atrium/host/ports/world'
import { play } from './player.ts'
import { chooseScript } from './script.ts'
import { models, provider, settings } from './settings.ts'
import { toolDefinitions } from './tools.ts'
import { scriptsOf } from './verbs.ts'
import { verbUsage } from './words.ts'
import { pause } from '../process/pause.ts'

/**
 * Creates the built-in agent, which needs no key and no network. The first word of a message selects a script. The whole
 * script is computed before the first action. To resume an interrupted turn, the agent plays the rest of the script.
 */
export function guide(later: World['later']): Agent {
  return {
    info: withReadiness(
      {
        provider,
        displayName: 'Atrium Guide',
        description: 'The built-in agent. It shows what Atrium can do, and needs no key and no network.',
        models: Object.values(models),
        capabilities: { multipleChats: { fork: true, sideChat: true } },
      },
      { state: 'ready', fallback: true, takesSteering: false },
    ),
    resumes: true,
    tools: toolDefinitions,
    settings,
    commands: async () =>
      Object.entries(verbUsage).map(([name, [use, effect]]) => ({ name, description: `${use}: ${effect}` })),
    async *run(chat, signal) {
      for await (const action of turn(chat, (ms) => pause(later, ms, signal))) {
        if (signal.aborted) return
        yield action
      }
    },
  }
}

async function* turn(chat: Chat, wait: (ms: number) => Promise<void>): AsyncIterable<AgentAction> {
  const { activeTurn } = chat.state
  if (activeTurn?.id !== chat.turnId) return
  const script = chooseScript(scriptsOf(activeTurn.message, chat), activeTurn)
  yield* play(script, chat, activeTurn, wait)
}
