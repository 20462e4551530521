import { readinessOf } from './readiness.ts'
import type { AgentInfo } from './state.ts'

/** The setting of the host for its default agent. */
export const defaultProviderKey = 'atrium.defaultProvider'

/**
 * The agent of a session whose creator names none: the configured one, else the first that is ready. An agent that was never
 * tried is not started for this. Only if no other agent is ready, it is the agent that always works.
 */
export function defaultAgent(agents: readonly AgentInfo[], configured: unknown): AgentInfo | undefined {
  if (typeof configured === 'string') return agents.find(({ provider }) => provider === configured)
  return agents.find(isChoice) ?? agents.find(isFallback) ?? agents[0]
}

function isChoice(agent: AgentInfo): boolean {
  const { state, fallback, actsWithoutAsking } = readinessOf(agent) ?? {}
  return state === 'ready' && fallback !== true && actsWithoutAsking !== true
}

function isFallback(agent: AgentInfo): boolean {
  return readinessOf(agent)?.fallback === true
}
