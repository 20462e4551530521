import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { KindName } from '@atrium/protocol/reducers'
import { decode } from '@atrium/protocol/schema'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import type { ClientView } from '../simulate/checks/client-view.ts'

export type Handle = Subscription<KindName>

/** Compares each state that one client shows with the state that the log had at the same sequence number. */
export class HandleChecks {
  readonly #client: () => Client
  readonly #clientView: ClientView
  readonly #fail: (rule: string, problem: string) => void
  /** For each channel, the state that the log had at each delivered sequence number. */
  readonly #expected = new Map<Uri, Map<number, unknown>>()
  readonly #newest = new Map<Uri, number>()
  /** The values that each handle showed at its last check. */
  readonly #checked = new WeakMap<Handle, readonly unknown[]>()
  readonly #notified = new WeakMap<Handle, readonly unknown[]>()

  constructor(client: () => Client, clientView: ClientView, fail: (rule: string, problem: string) => void) {
    this.#client = client
    this.#clientView = clientView
    this.#fail = fail
  }

  expect(uri: Uri, seq: number, state: unknown): void {
    const expected = this.#expected.get(uri) ?? new Map<number, unknown>()
    this.#expected.set(uri, expected.set(seq, state))
  }

  /** Forgets the newest number of a channel after its last handle was released. */
  forget(uri: Uri): void {
    this.#newest.delete(uri)
  }

  /** Records the state at a change notification. */
  notified(handle: Handle): void {
    this.#notified.set(handle, visibleState(handle))
  }

  /** Checks U3: nothing visible has changed since the last notification. */
  checkNotified(handle: Handle): void {
    const notified = this.#notified.get(handle)
    if (!visibleState(handle).every((value, at) => value === notified?.[at]))
      this.#fail('U3', `shows a change of ${handle.uri} without a notification`)
  }

  /**
   * Checks everything that a handle shows now. `reopened`: a later handle has the channel open again, so the pending actions
   * belong to that later handle.
   */
  check(handle: Handle, reopened = false): void {
    const { uri, kind, status, seq, confirmed, state, pending } = handle
    const link = this.#client().link.state
    const shown = [status, link, seq, confirmed, state, pending]
    if (this.#checked.get(handle)?.every((value, at) => value === shown[at])) return
    this.#checked.set(handle, shown)
    const waiting = this.#client().pending.filter((each) => each.channel === uri)
    if (status === 'gone' && (pending.length > 0 || (waiting.length > 0 && !reopened)))
      this.#fail('U3', `still waits for actions in ${uri}, which is gone`)
    if (confirmed === undefined || seq === undefined || status === 'gone') return
    if (pending.map(({ clientSeq }) => clientSeq).join() !== waiting.map(({ clientSeq }) => clientSeq).join())
      this.#fail('U1', `shows other pending actions in ${uri} than it has`)
    const channel = kinds[kind] as unknown as ChannelKind
    const fold = pending.reduce((folded, { action }) => channel.reduce(folded, action), confirmed as unknown)
    if (!equal(state, fold))
      this.#fail('U1', `shows a state of ${uri} that is not its pending actions over the confirmed state`)
    if (pending.length > 0 && !decode(channel.state, state).ok)
      this.#fail('U1', `shows a ${kind} that does not match its schema`)
    if (status === 'open' && link === 'live') this.#checkConfirmed(uri, channel, seq, confirmed)
  }

  /** Checks I4: at rest a handle shows the state that the host has. */
  checkAtRest(handle: Handle, expected: unknown): void {
    const channel = kinds[handle.kind] as unknown as ChannelKind
    if (handle.status !== 'open' || !this.#clientView.agrees(handle.uri, channel, handle.state, expected))
      this.#fail('I4', `has a wrong state of ${handle.uri} at rest (${handle.status})`)
  }

  #checkConfirmed(uri: Uri, kind: ChannelKind, seq: number, confirmed: unknown): void {
    const expected = this.#expected.get(uri)
    if (!expected?.has(seq)) return this.#fail('I3', `shows ${uri} at ${seq}, which it did not receive`)
    if (!this.#clientView.agrees(uri, kind, confirmed, expected.get(seq)))
      this.#fail('I3', `shows a state of ${uri} at ${seq} that differs from the log`)
    const newest = this.#newest.get(uri) ?? 0
    if (seq < newest) this.#fail('I8', `shows ${uri} at ${seq} after ${newest}`)
    this.#newest.set(uri, seq)
  }
}

function visibleState({ status, confirmed, pending }: Handle): readonly unknown[] {
  return [status, confirmed, pending.length]
}
