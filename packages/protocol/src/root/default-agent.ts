import { readinessOf } from './readiness.ts'
import type { AgentInfo } from './state.ts'

/** The setting of the host for its default agent. */
export const defaultProviderKey = 'atrium.defaultProvider'

/**
 * The agent of a session whose creator names none. If an agent is configured, it is that one, or undefined if it does
 * not exist. Otherwise it is the first agent that is ready and asks before it acts, else the fallback agent, which
 * always works, else the first agent. No agent is started to find out whether it is ready.
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
