import type { Step } from '@atrium/host/ports/log'
import { equal } from '@atrium/host/log/equal'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { isChoice } from '../speech/older-action.ts'
import { count } from '../tally.ts'
import type { ModelEntry, ReferenceModel } from './reference-model.ts'
import type { PendingAction } from './pending-action.ts'

type Fail = (invariant: string, problem: string) => void

/** A choice of a model or an agent that waits for the end of a turn, as the session keeps it. */
interface Deferred {
  readonly action: Action & { readonly model?: unknown; readonly agent?: unknown }
  readonly by: { readonly clientId: string; readonly clientSeq: number }
}

interface Chosen {
  readonly selection?: { readonly model?: unknown; readonly agent?: unknown }
  readonly deferred?: readonly Deferred[]
}

/** Whether a dispatched choice has no outcome because it waits in its session, where it is stored (V9). */
export function isWaiting(
  model: ReferenceModel,
  clientId: string,
  { channel, clientSeq, action }: PendingAction,
): boolean {
  if (!isChoice(action)) return false
  const { deferred = [] } = chosenIn(model.session(channel))
  return deferred.some(({ by }) => by.clientId === clientId && by.clientSeq === clientSeq)
}

/**
 * Whether a choice of a client was applied at a higher sequence number than `seq`, because it waited for the end of a
 * turn (V9).
 */
export function isAppliedAfter(
  model: ReferenceModel,
  clientId: string,
  { channel, clientSeq, action }: PendingAction,
  seq: number,
): boolean {
  const isIts = ({ origin }: ModelEntry) => origin?.clientId === clientId && origin.clientSeq === clientSeq
  const entry = isChoice(action) && model.channels.get(channel)?.entries.find(isIts)
  return entry ? entry.seq > seq : false
}

/**
 * Checks V9: choices wait in their order, none is lost, and each is applied for the client that made it, when no turn
 * is active.
 */
export function checkChoices(model: ReferenceModel, { envelopes }: Step, fail: Fail): void {
  for (const { channel, seq, action, origin } of envelopes) {
    if (!action.includes('"session/metaChanged"')) continue
    // Among these actions, only one that applies the choice of a client has an origin.
    if (origin && isBusy(model, channel, seq))
      fail('V9', `${seq} of ${channel} applies a choice while a turn is active`)
    const before = chosenIn(model.session(channel, seq - 1))
    const after = chosenIn(model.session(channel, seq))
    const [first, ...rest] = before.deferred ?? []
    const { deferred = [] } = after
    const kept = (before.deferred ?? []).every((each, at) => equal(each, deferred[at]))
    if (kept && deferred.length > (before.deferred?.length ?? 0)) count('choices that wait')
    if (kept) continue
    const by = origin && { clientId: origin.clientId, clientSeq: origin.clientSeq }
    if (!first || !equal(deferred, rest) || !equal(by, first.by) || !isApplied(first.action, after))
      fail('V9', `${seq} of ${channel} loses a choice that waited: ${JSON.stringify(before.deferred)}`)
    count('choices that waited')
  }
}

/** Checks V9: a choice of model or agent is deferred only while a turn of the session is active. */
export function checkNoneWaits(model: ReferenceModel, sessions: Sessions, fail: Fail): void {
  for (const [uri, state] of sessions)
    if (chosenIn(state).deferred && !isBusy(model, uri, Infinity))
      fail('V9', `a choice waits in ${uri}, although no turn is active`)
}

type Sessions = readonly (readonly [Uri, SessionState])[]

function isBusy(model: ReferenceModel, session: Uri, seq: number): boolean {
  const chats = model.session(session, seq)?.chats ?? []
  return chats.some(({ resource }) => model.live(resource) && model.chat(resource, seq)?.activeTurn)
}

function isApplied({ type, model, agent }: Deferred['action'], { selection = {} }: Chosen): boolean {
  if (type === 'session/modelChanged') return equal(selection.model, model)
  return equal(selection.agent, agent ?? undefined)
}

function chosenIn(state: SessionState | undefined): Chosen {
  return (state?._meta?.['x-atrium'] ?? {}) as Chosen
}
