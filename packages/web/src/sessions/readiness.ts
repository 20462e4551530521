import type { AgentInfo } from '@atrium/protocol/root/state'

/** Whether an agent can work, in the words of the page. */
export interface AgentReadiness {
  readonly state: 'ready' | 'needs-sign-in' | 'broken' | 'not-tried'
  readonly words: string
  readonly problem?: string
}

const words = {
  ready: 'ready',
  'needs-sign-in': 'needs sign-in',
  broken: 'broken',
  'not-tried': 'not tried yet',
} as const

/** Reads what an Atrium host says about an agent. Another host says nothing, and the agent counts as not tried. */
export function readinessOf(agent: AgentInfo): AgentReadiness {
  const own = member(member(agent, '_meta'), 'x-atrium')
  const state = stateOf(member(own, 'state')) ?? 'not-tried'
  const problem = member(own, 'problem')
  const asks = member(own, 'actsWithoutAsking') !== true
  const shown = asks ? words[state] : `${words[state]}, acts without asking`
  return { state, words: shown, ...(typeof problem === 'string' && { problem }) }
}

function stateOf(value: unknown): AgentReadiness['state'] | undefined {
  return typeof value === 'string' && value in words
    ? // The check before makes the cast safe.
      (value as AgentReadiness['state'])
    : undefined
}

function member(value: unknown, key: string): unknown {
  // Any object may be asked for any key: hence the cast.
  return typeof value === 'object' && value !== null ? (value as { [key: string]: unknown })[key] : undefined
}
