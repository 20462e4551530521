import { catalogOf } from '../../catalog/catalog.ts'
import type { TerminalClaim, TerminalState } from '@atrium/protocol/terminal/state'
import type { Core } from '../../kernel/core.ts'
import type { Guards } from '../../kernel/rules.ts'

/** The client that makes a request. */
interface Requester {
  readonly clientId: string
  readonly principal: string
}

export const terminalGuards: Guards<'terminal'> = {
  'terminal/input': ({ data }, { state, by, core }) => {
    if (state.lifecycle.status === 'exited') return shellEnded
    if (data.length > core.limits.inputLength)
      return `one input has at most ${core.limits.inputLength} characters`
    return isHolder(state.claim, by) ? undefined : heldBy(state.claim)
  },
  // A terminal whose shell has ended can still be resized: clients do so when they lay out the output again.
  'terminal/resized': ({ cols, rows }, { state, by, core }) =>
    sizeProblem(core, cols, rows) ?? controlProblem(state, by),
  'terminal/cleared': (_, { state, by }) => controlProblem(state, by),
  'terminal/claimed': ({ claim }, { state, by, core }) => {
    // The claim of a client that has disconnected does not count.
    const free = state.claim.kind === 'session' || !core.clients.links.has(state.claim.clientId)
    if (!free && !isHolder(state.claim, by)) return heldBy(state.claim)
    return claimProblem(core, claim, by)
  },
}

/** Returns the problem with a claim that a client makes for itself or for another, if there is one. */
export function claimProblem(core: Core, claim: TerminalClaim, by: Requester): string | undefined {
  if (claim.kind === 'client') {
    if (claim.clientId === by.clientId) return undefined
    return core.clients.links.get(claim.clientId)?.principal === by.principal
      ? undefined
      : 'there is no such client'
  }
  if (!catalogOf(core).get(claim.session)) return 'there is no such session'
  return catalogOf(core).sessionOf(claim.chat) === claim.session ? undefined : 'the session has no such chat'
}

export function sizeProblem({ limits }: Core, cols: number, rows: number): string | undefined {
  const fits = [cols, rows].every((count) => count >= 1 && count <= limits.terminalSize)
  return fits ? undefined : `a terminal has 1 to ${limits.terminalSize} columns and rows`
}

/**
 * The reason why a client may not resize or clear a terminal; undefined if it may. A client that holds the terminal
 * is the only one that may. If a session holds it, every client may.
 */
function controlProblem({ claim }: TerminalState, by: Requester): string | undefined {
  return claim.kind === 'session' || isHolder(claim, by) ? undefined : heldBy(claim)
}

function isHolder(claim: TerminalClaim, { clientId }: Requester): boolean {
  return claim.kind === 'client' && claim.clientId === clientId
}

function heldBy({ kind }: TerminalClaim): string {
  return kind === 'session'
    ? 'this terminal is held by a session: claim it first'
    : 'this terminal is held by another client'
}

const shellEnded = 'the shell of this terminal has ended'
