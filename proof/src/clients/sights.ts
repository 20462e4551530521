import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { KindName } from '@atrium/protocol/reducers'
import { decode } from '@atrium/protocol/schema'
import type { Client } from '@atrium/client/client'
import type { Subscription } from '@atrium/client/sync/handle'
import type { Eye } from '../simulate/eye.ts'

export type Handle = Subscription<KindName>

/** What one client shows of its channels, held against what the log said under the numbers it was told. */
export class Sights {
  readonly #client: () => Client
  readonly #eye: Eye
  readonly #fail: (rule: string, problem: string) => void
  /** The state of each channel at each number that it was told of, as it was when it was told. */
  readonly #noted = new Map<Uri, Map<number, unknown>>()
  readonly #newest = new Map<Uri, number>()
  /** What was looked at and found right. */
  readonly #seen = new WeakMap<Handle, readonly unknown[]>()
  readonly #told = new WeakMap<Handle, readonly unknown[]>()

  constructor(client: () => Client, eye: Eye, fail: (rule: string, problem: string) => void) {
    this.#client = client
    this.#eye = eye
    this.#fail = fail
  }

  note(uri: Uri, seq: number, state: unknown): void {
    const noted = this.#noted.get(uri) ?? new Map<number, unknown>()
    this.#noted.set(uri, noted.set(seq, state))
  }

  /** A handle that goes, and with it what was known of the channel if it is the last. */
  forget(uri: Uri): void {
    this.#newest.delete(uri)
  }

  /** Whoever holds it has been told to look. */
  told(handle: Handle): void {
    this.#told.set(handle, faceOf(handle))
  }

  /** U3: nothing of it has changed since somebody was told. */
  judgeTold(handle: Handle): void {
    const told = this.#told.get(handle)
    if (!faceOf(handle).every((value, at) => value === told?.[at]))
      this.#fail('U3', `shows another ${handle.uri} than anybody was told of`)
  }

  /** Whatever it shows now. */
  look(handle: Handle): void {
    const { uri, kind, status, seq, confirmed, state, pending } = handle
    const link = this.#client().link.state
    const shown = [status, link, seq, confirmed, state, pending]
    if (this.#seen.get(handle)?.every((value, at) => value === shown[at])) return
    this.#seen.set(handle, shown)
    const waiting = this.#client().pending.filter((wish) => wish.channel === uri)
    if (status === 'gone' && (pending.length > 0 || waiting.length > 0))
      this.#fail('U3', `still waits for what it wished in ${uri}, which is gone`)
    if (confirmed === undefined || seq === undefined || status === 'gone') return
    if (pending.map(({ clientSeq }) => clientSeq).join() !== waiting.map(({ clientSeq }) => clientSeq).join())
      this.#fail('U1', `shows other wishes over ${uri} than it has`)
    const channel = kinds[kind] as unknown as ChannelKind
    const fold = pending.reduce((folded, { action }) => channel.reduce(folded, action), confirmed as unknown)
    if (!equal(state, fold))
      this.#fail('U1', `shows something else of ${uri} than its wishes over what it was told`)
    if (pending.length > 0 && !decode(channel.state, state).ok)
      this.#fail('U1', `shows a ${kind} that has not its shape`)
    if (status === 'open' && link === 'live') this.#true(uri, channel, seq, confirmed)
  }

  /** At rest: what it shows is what the host has. */
  judge(handle: Handle, truth: unknown): void {
    const channel = kinds[handle.kind] as unknown as ChannelKind
    if (handle.status !== 'open' || !this.#eye.sees(handle.uri, channel, handle.state, truth))
      this.#fail('I4', `sees another ${handle.uri} at rest (${handle.status})`)
  }

  #true(uri: Uri, kind: ChannelKind, seq: number, confirmed: unknown): void {
    const noted = this.#noted.get(uri)
    if (!noted?.has(seq)) return this.#fail('I3', `shows ${uri} at ${seq}, of which nobody told it`)
    if (!this.#eye.sees(uri, kind, confirmed, noted.get(seq)))
      this.#fail('I3', `shows another ${uri} at ${seq} than the log had`)
    const newest = this.#newest.get(uri) ?? 0
    if (seq < newest) this.#fail('I8', `shows ${uri} at ${seq} after ${newest}`)
    this.#newest.set(uri, seq)
  }
}

function faceOf({ status, confirmed, pending }: Handle): readonly unknown[] {
  return [status, confirmed, pending.length]
}
