import { sessionResourcesOf } from '../../catalog/session-resources.ts'
import { terminals } from '../../catalog/lookup.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { TerminalAction } from '@atrium/protocol/terminal/actions'
import type { TerminalClaim, TerminalInfo } from '@atrium/protocol/terminal/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { equal } from '../../kernel/log/equal.ts'

/**
 * Updates what depends on a terminal's action, in the same step: the session that the terminal belongs to, the stored
 * list of terminals whose shell runs (the next start of the host reads it), and the root's list of terminals.
 */
export function terminalFollowUps(
  core: Core,
  terminal: Channel<'terminal'>,
  action: TerminalAction,
  by?: object,
): void {
  if (!listedActions.has(action.type)) return
  if (action.type === 'terminal/titleChanged' && by) core.jobs.job(terminal.uri)?.named?.()
  const { claim, lifecycle } = terminal.head
  setClaim(core, terminal.uri, claim)
  core.jobs.mark(terminal.uri, lifecycle.status === 'running')
  list(core, terminal)
}

/**
 * Assigns a terminal to the session that holds it, so that both are disposed of together. The chat of the claim may have
 * moved to another session since the claim, and its terminals have moved with it.
 */
export function setClaim(core: Core, terminal: Uri, claim: TerminalClaim): void {
  if (claim.kind === 'client') return sessionResourcesOf(core).assign(terminal, undefined)
  sessionResourcesOf(core).assign(
    terminal,
    catalogOf(core).sessionOf(claim.chat) ?? claim.session,
    claim.chat,
  )
}

export function list(core: Core, terminal: Channel<'terminal'>): void {
  const { title, claim, lifecycle } = terminal.head
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

const listedActions = new Set(['terminal/claimed', 'terminal/titleChanged', 'terminal/exited'])
