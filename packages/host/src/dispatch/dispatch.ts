import type { Action } from '@atrium/protocol/channel'
import { checkAction } from '@atrium/protocol/kind'
import { compact } from '@atrium/protocol/update'
import { needsRow } from '../log/channel-rows.ts'
import type { Channel } from '../log/channel.ts'
import { convertAnswers } from '../chat/answer-conversion.ts'
import { chatGuards } from '../chat/guards.ts'
import { chatEffects } from '../chat/start-turn.ts'
import type { TurnAction } from '@atrium/protocol/chat/actions'
import { loadTurnFor } from '../channels/history.ts'
import { hasRoom, stateLength } from '../channels/state-length.ts'
import { clientUris } from '../resources/client-files.ts'
import type { Core, Link } from '../core/core.ts'
import type { Entry } from '../log/entry.ts'
import type { Dispatcher } from '../log/options.ts'
import { withCallMeta } from '../tools/call-meta.ts'
import type { Deciding } from '../tools/call-meta.ts'
import { attachmentProblem, pinned } from '../turn/pin.ts'
import { rootGuards } from '../root/root.ts'
import { ruleMap } from '../core/rules.ts'
import type { AnyEffect, AnyGuard } from '../core/rules.ts'
import { sessionGuards } from '../session/guards.ts'
import { sessionCommitted, sessionEffects } from '../session/session.ts'
import { terminalGuards } from '../terminal/guards.ts'
import { terminalEffects } from '../terminal/terminal.ts'
import { answerEffects } from '../recovery.ts'

interface Dispatched {
  readonly clientSeq: number
  readonly action: Action
}

/**
 * Accepts or refuses an action that a client dispatched. An accepted action has passed the guards and is appended; its effect
 * runs once it is committed. A refusal has a reason. The client gets both, actions and refusals, in the order of its
 * dispatches. Returns undefined where the channel is gone.
 */
export function dispatch(
  core: Core,
  link: Link,
  channel: Channel,
  { clientSeq, action }: Dispatched,
): Entry | undefined {
  // The channel may have been dropped while the dispatch waited.
  if (core.log.channel(channel.uri) !== channel) return undefined
  const by: Dispatcher = { clientId: link.clientId, clientSeq, principal: link.principal }
  const checked = checkAction(channel.kind, action)
  const read = checked.ok ? convertAnswers(channel, checked.value) : action
  const reason = checked.ok ? refusal(core, channel, read, by) : `${action.type}: ${checked.problem}`
  if (reason !== undefined) return core.log.refuse(channel, action, { by, listener: link }, reason)
  // `needsRow` is true for two action types only, and both are turn actions. So the cast is safe.
  if (needsRow(action)) loadTurnFor(core, channel, action as TurnAction)
  if (mayNameClientFiles.has(action.type))
    for (const uri of clientUris(action)) core.clientUriOwners.record(uri, by.clientId)
  const completed = withCallMeta(channel, read, deciderOf(core, by))
  return core.log.accept(channel, pinned(core, completed), { by, listener: link })
}

function deciderOf({ clients }: Core, { principal, clientId }: Dispatcher): Deciding {
  return compact<Deciding>({ principal, clientId, client: clients.implementationOf(clientId) })
}

/** Runs the effect of a committed action. */
export function effect(core: Core, channel: Channel, { action }: Entry): void {
  if (core.jobs.stopping) return
  effects.get(action.type)?.(core, channel, action)
  if (channel.is('session')) sessionCommitted(core, channel)
}

function refusal(core: Core, channel: Channel, action: Action, by: Dispatcher): string | undefined {
  const { kind } = channel
  if (!kind.actions.has(action.type))
    return `unknown action ${JSON.stringify(action.type.slice(0, 100))} on a ${kind.name} channel`
  if (!kind.dispatchable.has(action.type)) return `${action.type} is dispatched by the host only`
  return (
    core.readOnlyReason() ??
    guards.get(action.type)?.(action, { state: channel.head, by, core, channel }) ??
    attachmentProblem(core, action) ??
    roomProblem(core, channel, action)
  )
}

/**
 * A long action is refused if the state has no room for it. Short actions are accepted, so that a full chat can be stopped,
 * answered and truncated.
 */
function roomProblem(core: Core, channel: Channel, action: Action): string | undefined {
  // An action of a client is much shorter than half of the limit, so few actions need to be measured.
  if (stateLength(core, channel) <= core.limits.stateLength / 2) return undefined
  if (hasRoom(core, channel, action) || JSON.stringify(action).length <= shortAction) return undefined
  return `this ${channel.kindName} is full: its state may have at most ${core.limits.stateLength} characters`
}

/** In characters. */
const shortAction = 4096

const guards = ruleMap<AnyGuard>(rootGuards, sessionGuards, chatGuards, terminalGuards)
const effects = ruleMap<AnyEffect>(sessionEffects, chatEffects, answerEffects, terminalEffects)

/** Types of actions that may contain URIs of client files. The host remembers which client owns each of these URIs. */
const mayNameClientFiles = new Set([
  'chat/turnStarted',
  'chat/pendingMessageSet',
  'chat/draftChanged',
  'session/activeClientSet',
])
