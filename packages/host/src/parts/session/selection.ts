import { ownersOf } from '../../catalog/owners.ts'
import type { Action } from '@atrium/protocol/channel'
import { AgentSelection, ModelSelection } from '@atrium/protocol/chat/message'
import type { Message } from '@atrium/protocol/chat/message'
import type { Role } from '@atrium/protocol/root/device'
import { decode } from '@atrium/protocol/schema'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState } from '@atrium/protocol/session/state'
import { compact, without } from '@atrium/protocol/update'
import { isBefore } from '@atrium/protocol/versions/negotiate'
import type { Core } from '../../kernel/core.ts'
import type { DispatchRules } from '../../kernel/dispatch-rules.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Entry, Listener } from '../../kernel/log/entry.ts'
import { equal } from '../../kernel/log/equal.ts'
import type { Sender } from '../../kernel/log/options.ts'

/**
 * The model and the agent that were chosen last in a session. From 0.5.0 on, each message names its own model and agent; older
 * clients choose them for the session. The choice is part of the session's `_meta`, so that it is in the log and every replay
 * has it.
 */
export interface Selection {
  readonly model?: ModelSelection | undefined
  readonly agent?: AgentSelection | undefined
}

/** A choice that waits for the end of all turns, with the dispatch that made it. */
interface Deferred {
  readonly action: SelectionAction
  readonly by: { readonly clientId: string; readonly clientSeq: number }
}

/** What the host keeps in the `_meta` of a session. */
interface OwnMeta {
  readonly selection?: Selection
  readonly deferred?: readonly Deferred[]
}

/** The actions of versions up to 0.4 that choose a model or an agent. */
export interface SelectionAction extends Action {
  readonly type: 'session/modelChanged' | 'session/agentChanged'
  readonly model?: unknown
  readonly agent?: unknown
}

type Session = Channel<'session'>

export function isSelection(action: Action): action is SelectionAction {
  return action.type === 'session/modelChanged' || action.type === 'session/agentChanged'
}

/** A client up to 0.4 chooses the model and the agent once for a session, and not for each message. */
export const selectionDetour: DispatchRules<Core>['detours'] = (core, channel, action, { clientId }) => {
  const version = core.clients.versionOf(clientId)
  if (!isSelection(action) || !channel.is('session') || version === undefined) return undefined
  if (!isBefore(version, '0.5.0')) return undefined
  return { accept: (sender) => select(core, channel, action, sender) }
}

export const selectionRoles: { readonly [T in SelectionAction['type']]: Role } = {
  'session/modelChanged': 'prompt',
  'session/agentChanged': 'prompt',
}

/**
 * Accepts the choice of a model or an agent. While a turn runs, the choice is stored and waits: it is applied, and echoed, when
 * all turns have ended.
 */
function select(core: Core, session: Session, action: SelectionAction, sender: Sender): Entry | undefined {
  const { deferred = [] } = ownMeta(session.head)
  const { clientId, clientSeq } = sender.by
  // After a reconnect a client may send its choice again. If the choice still waits, there is no answer yet: the echo
  // comes when it is applied. If it was applied in the meantime, it is refused, so that it is not applied twice.
  const isOwn = ({ by }: Deferred) => by.clientId === clientId && by.clientSeq === clientSeq
  if (clientSeq > 0 && deferred.some(isOwn)) return undefined
  const before = appliedBefore(session, sender, action)
  const accepted = before === undefined ? undefined : `already accepted as ${before}`
  const problem = accepted ?? core.readOnlyReason(clientId) ?? problemOf(action)
  if (problem !== undefined) return core.log.refuse(session, action, sender, problem)
  if (!isBusy(core, session)) return core.log.accept(session, selected(session.head, action), sender)
  if (deferred.length >= maxDeferred)
    return core.log.refuse(
      session,
      action,
      sender,
      `${maxDeferred} choices of a model or an agent wait for the end of the turn already: choose again after it`,
    )
  const waiting = [...deferred, { action, by: { clientId, clientSeq } }]
  return core.log.append(session, metaChanged(session.head, { deferred: waiting }))
}

/** Applies the choices that waited, once no turn is active. Each is echoed to the client that made it. */
export function applyDeferred(core: Core, session: Session): void {
  for (;;) {
    const [first, ...rest] = ownMeta(session.head).deferred ?? []
    if (!first || isBusy(core, session)) return
    const { clientId, clientSeq } = first.by
    const by = { clientId, clientSeq, principal: ownersOf(core).of(session.uri) ?? '' }
    const listener: Listener = core.clients.links.get(clientId) ?? nobody
    const change = selected(session.head, first.action, rest)
    const { seq } = core.log.accept(session, change, { by, listener, sent: first.action })
    applied.set(session, [...(applied.get(session) ?? []), { ...first, seq }].slice(-maxDeferred))
  }
}

/**
 * The last choices of a session that were applied after they had waited. A client that reconnected while its choice
 * waited may send the choice again later. This list then shows that it was applied already.
 */
const applied = new WeakMap<Session, readonly (Deferred & { readonly seq: number })[]>()

function appliedBefore(session: Session, { by }: Sender, action: SelectionAction): number | undefined {
  const isSame = ({ by: { clientId, clientSeq }, action: first }: Deferred) =>
    clientId === by.clientId && clientSeq === by.clientSeq && clientSeq > 0 && equal(first, action)
  return applied.get(session)?.find(isSame)?.seq
}

/** Whether a stored action may be what the host stored for this choice: its `_meta` has the chosen model or agent. */
export function isChoiceOf(stored: Action, action: SelectionAction): boolean {
  if (stored.type !== 'session/metaChanged') return false
  // The host stored the action, so it has the members of its type.
  const { _meta } = stored as Extract<SessionAction, { type: 'session/metaChanged' }>
  const chosen = ownMeta({ _meta }).selection ?? {}
  return equal(after(chosen, action), chosen)
}

/** Remembers the model and the agent of a message that starts a turn. */
export function rememberSelection(core: Core, session: Session, { model, agent }: Message): void {
  const { selection = {} } = ownMeta(session.head)
  const next = compact<Selection>({ ...selection, ...(model && { model }), ...(agent && { agent }) })
  if (!equal(next, selection)) core.log.append(session, metaChanged(session.head, { selection: next }))
}

/**
 * Makes the `_meta` of a new session from the model and the agent that are chosen for it. Undefined if none is
 * chosen.
 */
export function selectionMeta(selection: Selection): SessionState['_meta'] {
  const chosen = compact<Selection>(selection)
  return Object.keys(chosen).length === 0 ? undefined : { [key]: { selection: chosen } }
}

/**
 * Applies the waiting choices to the state of a session, without storing them. These choices hold for a message that
 * waits for the end of the turn.
 */
export function withDeferred(state: SessionState): SessionState {
  const { selection, deferred = [] } = ownMeta(state)
  if (deferred.length === 0) return state
  const chosen = deferred.reduce<Selection>((before, { action }) => after(before, action), selection ?? {})
  return { ...state, _meta: { ...state._meta, [key]: { ...ownMeta(state), selection: chosen } } }
}

/** Makes the action that applies a choice. `deferred`: the choices that still wait. */
function selected(
  state: SessionState,
  action: SelectionAction,
  deferred?: readonly Deferred[],
): SessionAction {
  const selection = after(ownMeta(state).selection ?? {}, action)
  return metaChanged(state, { selection, ...(deferred && { deferred }) })
}

function after(before: Selection, { type, model, agent }: SelectionAction): Selection {
  // The casts are safe: `problemOf` has checked the members before the choice was accepted.
  const change =
    type === 'session/modelChanged'
      ? { model: model as ModelSelection }
      : { agent: (agent ?? undefined) as AgentSelection | undefined }
  return compact<Selection>({ ...before, ...change })
}

function problemOf({ type, model, agent }: SelectionAction): string | undefined {
  const checked =
    type === 'session/modelChanged'
      ? decode(ModelSelection, model)
      : agent === undefined || agent === null
        ? undefined
        : decode(AgentSelection, agent)
  if (!checked || checked.ok) return undefined
  return `${type}: ${type === 'session/modelChanged' ? 'model' : 'agent'}: ${checked.problem}`
}

function metaChanged(state: SessionState, changes: OwnMeta): SessionAction {
  const own = { ...ownMeta(state), ...changes }
  const kept = own.deferred?.length === 0 ? without(own, 'deferred') : own
  return { type: 'session/metaChanged', _meta: { ...state._meta, [key]: kept } }
}

function ownMeta({ _meta }: { readonly _meta?: SessionState['_meta'] | undefined }): OwnMeta {
  // Only the host changes this member of a session's `_meta`, so it has this type or is absent.
  return (_meta?.[key] as OwnMeta | undefined) ?? {}
}

/** Whether a chat of the session has an active turn. Such a chat is always in memory. */
function isBusy({ log }: Core, { head }: Session): boolean {
  return head.chats.some(({ resource }) => log.channel(resource, 'chat')?.head.activeTurn !== undefined)
}

const nobody: Listener = { deliver() {}, notify() {} }
const key = 'x-atrium'
/** The maximum number of choices of a session that wait. */
const maxDeferred = 16
