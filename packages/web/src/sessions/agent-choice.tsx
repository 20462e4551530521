import type { AgentInfo } from '@atrium/protocol/root/state'
import { readinessOf } from './readiness.ts'

interface Props {
  readonly agents: readonly AgentInfo[]
  readonly chosen: string
  readonly onChoose: (provider: string) => void
}

/** The agents of the host, each with what keeps it from working. */
export function AgentChoice({ agents, chosen, onChoose }: Props) {
  return (
    <fieldset class="agents">
      <legend>Agent</legend>
      {agents.map((agent) => {
        const { state, words, problem } = readinessOf(agent)
        return (
          <label key={agent.provider} class={`agent${agent.provider === chosen ? ' chosen' : ''}`}>
            <input
              type="radio"
              name="agent"
              value={agent.provider}
              checked={agent.provider === chosen}
              onChange={() => onChoose(agent.provider)}
            />
            <span class="agent-text">
              <span class="agent-name">
                {agent.displayName} <span class={`tag ${state}`}>{words}</span>
              </span>
              <span class="agent-about">{problem ?? agent.description}</span>
            </span>
          </label>
        )
      })}
    </fieldset>
  )
}
