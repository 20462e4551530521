import type { Uri } from '@atrium/protocol/channel'
import type { TerminalAction } from '@atrium/protocol/terminal/actions'
import type { TerminalClaim, TerminalInfo, TerminalState } from '@atrium/protocol/terminal/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { equal } from '../log/equal.ts'

/** The terminals that the root lists: those that run, and those that have ended in a client's hands. */
export function terminals(core: Core): readonly TerminalInfo[] {
  return core.log.channel(rootUri, 'root')?.head?.terminals ?? []
}

/** What a terminal's action brings with it, in the same step. */
export function terminalFollowUps(
  core: Core,
  terminal: Channel<'terminal'>,
  action: TerminalAction,
  by?: object,
): void {
  if (!listedActions.has(action.type)) return
  if (action.type === 'terminal/titleChanged' && by) core.jobs.job(terminal.uri)?.named?.()
  const { claim, lifecycle } = stateOf(terminal)
  setClaim(core, terminal.uri, claim)
  core.jobs.mark(terminal.uri, lifecycle.status === 'running')
  list(core, terminal)
}

/** What a session holds goes with it. The chat may have moved since the claim was made, and the terminal with it. */
export function setClaim({ sessionResources, catalog }: Core, terminal: Uri, claim: TerminalClaim): void {
  if (claim.kind === 'client') return sessionResources.assign(terminal, undefined)
  sessionResources.assign(terminal, catalog.sessionOf(claim.chat) ?? claim.session, claim.chat)
}

export function list(core: Core, terminal: Channel<'terminal'>): void {
  const { title, claim, lifecycle } = stateOf(terminal)
  const info: TerminalInfo = { resource: terminal.uri, title, claim, lifecycle }
  const shown = lifecycle.status === 'running' || claim.kind === 'client'
  const before = terminals(core)
  const at = before.findIndex(({ resource }) => resource === terminal.uri)
  if (!shown) unlist(core, terminal.uri)
  else relist(core, at < 0 ? [...before, info] : before.with(at, info))
}

export function unlist(core: Core, uri: Uri): void {
  relist(
    core,
    terminals(core).filter(({ resource }) => resource !== uri),
  )
}

function relist(core: Core, now: readonly TerminalInfo[]): void {
  const root = core.log.channel(rootUri, 'root')
  if (!root || equal(now, terminals(core))) return
  core.log.append(root, { type: 'root/terminalsChanged', terminals: now })
}

function stateOf(terminal: Channel<'terminal'>): TerminalState {
  return terminal.head
}

const listedActions = new Set(['terminal/claimed', 'terminal/titleChanged', 'terminal/exited'])
