import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChannelKind } from '@atrium/protocol/kind'
import { oracle } from '@atrium/protocol/oracles'
import type { KindName } from '@atrium/protocol/reducers'
import { knows } from '@atrium/protocol/versions/known'
import { makesGap } from '@atrium/protocol/versions/gaps'
import { lenses } from '@atrium/protocol/versions/lenses'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { Names } from '../speech/names.ts'
import { comparable } from './comparable.ts'
import type { RunContext } from './context.ts'
import { difference } from './difference.ts'
import { loweredActions, mainAction } from './lowering.ts'
import type { LoweredActions } from './lowering.ts'
import { changeable } from '../../judge/rules.ts'
import { mayMerge } from '../../judge/link-rules.ts'
import { alike } from './reference-model.ts'
import type { ModelEntry } from './reference-model.ts'

/**
 * Action types that 0.9 does not know. The list is written by hand, so that it does not depend on the translation
 * between versions, which is under test.
 */
const later = new Set([
  'session/chatsReordered',
  'session/mcpServerBackgroundRequested',
  'chat/isReadChanged',
  'chat/isArchivedChanged',
  'chat/movableChanged',
  'chat/changesetsChanged',
  'chat/backgroundWorkSet',
  'chat/backgroundWorkRemoved',
  'chat/canvasesChanged',
])

/**
 * The entry of the log that an envelope stands for. `lowered`: the actions that the client is sent for the entry, in
 * its version.
 */
export interface Located {
  readonly uri: Uri
  readonly entry: ModelEntry
  readonly lowered: LoweredActions
  /** The action of `lowered` that the envelope must carry. Undefined if the version has none. */
  readonly action: Action | undefined
  readonly origin: ModelEntry['origin']
}

/** Stands for a state that cannot be compared, because further actions of the same change or transaction follow. */
export const withinStep = Symbol('within a step')

/** A client's view of the log: its protocol version, and the chats of which it holds only the newest turns. */
export class ClientView {
  readonly version: Version
  readonly names: Names
  /** Chats that it ever subscribed to with a limited number of turns. */
  readonly windowed = new Set<Uri>()
  /** The dispatched actions as the client sent them, by `clientSeq`. */
  readonly sent = new Map<number, Action>()
  readonly #context: Pick<RunContext, 'model' | 'invariants'>
  readonly #clientId: string
  readonly #lens
  readonly #oracle

  constructor(context: Pick<RunContext, 'model' | 'invariants'>, clientId: string, version: Version) {
    this.#context = context
    this.#clientId = clientId
    this.version = version
    this.names = new Names(context, version)
    this.#lens = lenses.get(version)
    this.#oracle = this.#lens && oracle(version)
  }

  /** Whether a sequence number may have another meaning for other clients of the same version. */
  get isPersonal(): boolean {
    return this.#lens !== undefined && this.version !== '0.9.0'
  }

  knows({ type }: Action): boolean {
    return this.version === '0.9.0' ? !later.has(type) : !this.#lens || knows(this.version, type)
  }

  reduce(kind: ChannelKind, state: unknown, action: Action): unknown {
    if (!this.#oracle) return kind.reduce(state, action)
    const name = this.names.merged && kind.name === 'chat' ? 'session' : (kind.name as KindName)
    return this.#oracle[name]?.(state as never, action as never, 0) ?? state
  }

  /**
   * Returns the channels of the log that make up a channel of the client: up to 0.3 a session and its primary chat,
   * which is its default chat or else its first one.
   */
  sources(uri: Uri, seq = Infinity): readonly Uri[] {
    const chat = this.names.merged ? this.names.primary(uri, seq) : undefined
    return chat === undefined ? [uri] : [uri, chat]
  }

  /** Returns the entry that an envelope of a channel stands for. */
  locate(channel: Uri, seq: number): Located | undefined {
    let found: Located | undefined
    for (const uri of this.sources(channel, seq)) {
      const entries = this.#context.model.channels.get(uri)?.entries ?? []
      const entry = entries.findLast((each) => each.seq <= seq && !each.fromHead)
      if (!entry || entry.seq < (found?.entry.seq ?? 0)) continue
      const lowered = this.lowered(uri, entry)
      const at = seq - entry.seq
      if (at > 0 && (lowered === 'rebuild' || at >= lowered.length)) continue
      const action = lowered === 'rebuild' ? undefined : lowered[at]
      const isMain = lowered === 'rebuild' || at === mainAction(lowered, entry.action)
      found = { uri, entry, lowered, action, origin: isMain ? entry.origin : undefined }
    }
    return found
  }

  /**
   * Returns an entry that must have been sent to the client, with a number above `after` and below `before`. Returns
   * undefined if there is no such entry.
   */
  missed(channel: Uri, after: number, before: number): ModelEntry | undefined {
    for (const uri of this.sources(channel, after)) {
      const entries = this.#context.model.channels.get(uri)?.entries ?? []
      const missed = entries.find(
        (entry) =>
          entry.seq > after &&
          entry.seq < before &&
          !entry.fromHead &&
          !mayMerge(entry.action) &&
          this.lowered(uri, entry).length > 0,
      )
      if (missed) return missed
    }
    return undefined
  }

  /**
   * Returns the actions that the client is sent for an entry. `rebuild`: its version cannot express the entry, so the
   * host closes the connection, and the client gets a snapshot later.
   */
  lowered(uri: Uri, entry: ModelEntry): LoweredActions {
    const kind = this.#context.model.channels.get(uri)?.kind
    if (!this.#lens || !kind) return [entry.action]
    return loweredActions(this.#lens, kind, entry, {
      viewer: this.#clientId,
      before: this.#context.model.stateAt(uri, entry.seq - 1) as object,
      after: entry.state as object,
    })
  }

  /** Whether the state of the client may differ from the expected state, from this number to the next snapshot (V10). */
  makesGap(channel: Uri, seq: number): boolean {
    const located = this.#lens && this.locate(channel, seq)
    if (!located) return false
    const { model } = this.#context
    const kind = model.channels.get(located.uri)?.kind.name as KindName
    const { action, seq: at } = located.entry
    return makesGap(this.version, kind, action as never, model.stateAt(located.uri, at - 1) as object)
  }

  /**
   * Returns the state that the client must have at a sequence number, in its version; `withinStep` if it cannot be
   * compared there. If several actions stand for one change, it can be compared only after the last one. Up to 0.3 it
   * can be compared only at the end of a step: with one action, the older reducer changes what the host changes with
   * several actions of the step.
   */
  expected(uri: Uri, seq: number): unknown {
    const { lowered = [], entry } = (this.#lens && this.locate(uri, seq)) || {}
    const isPart = entry !== undefined && seq - entry.seq < lowered.length - 1
    const isOpen = isPart || (this.names.merged && this.#isWithinStep(uri, seq, entry?.at))
    return isOpen ? withinStep : this.stateAt(uri, seq)
  }

  /** Returns the state at a number, in the client's version. */
  stateAt(uri: Uri, seq: number): unknown {
    const { model, invariants } = this.#context
    const state = model.stateAt(uri, seq)
    const kind = model.channels.get(uri)?.kind.name as KindName
    if (!this.#lens || state === undefined) return state
    const chat = this.names.merged ? model.chat(this.names.primary(uri, seq) ?? '', seq) : undefined
    const owner = invariants.sessionOf(uri) ?? uri
    const { provider }: { readonly provider?: string } = model.session(owner, seq) ?? {}
    const summary = { resource: owner, provider, createdAt: instant, modifiedAt: instant }
    return this.#lens.stateDown(kind, state as object, { viewer: this.#clientId, summary, chat })
  }

  /** Whether the client's state agrees with the expected one. */
  agrees(uri: Uri, kind: ChannelKind, own: unknown, expected: unknown): boolean {
    if (expected === withinStep) return true
    const [shown, right] = this.#compared(uri, kind, own, expected)
    return alike(kind, shown, right)
  }

  /** Returns where the client's state differs from the expected one. */
  difference(uri: Uri, kind: ChannelKind, own: unknown, expected: unknown): string {
    const [shown, right] = this.#compared(uri, kind, own, expected)
    return difference(changeable(kind, shown), changeable(kind, right)) ?? 'equal'
  }

  #compared(uri: Uri, kind: ChannelKind, own: unknown, expected: unknown): readonly [unknown, unknown] {
    const [left, right] = [own, expected].map((state) =>
      this.#lens && state ? comparable(this.version, kind.name as KindName, state) : state,
    )
    const named = this.names.heard(left)
    const shown = this.windowed.has(uri) ? withCursor(named, right) : named
    return [shown, this.#cut(uri, named, right)]
  }

  #isWithinStep(uri: Uri, seq: number, at: number | undefined): boolean {
    if (at === undefined) return false
    return this.sources(uri, seq).some((source) =>
      this.#context.model.channels.get(source)?.entries.some((entry) => entry.seq > seq && entry.at === at),
    )
  }

  #cut(uri: Uri, own: unknown, expected: unknown): unknown {
    if (!this.windowed.has(uri)) return expected
    const { turns } = expected as Turns
    return { ...(expected as Turns), turns: turns.slice(turns.length - (own as Turns).turns.length) }
  }
}

/** A time for the entry of a session in the list. Times are not compared. */
const instant = '2026-01-01T00:00:00.000Z'

interface Turns {
  readonly turns: readonly { readonly id: string }[]
  readonly turnsNextCursor?: string
}

/** Removes the cursor if it is right: present exactly when older turns exist. A wrong cursor stays, and fails the comparison. */
function withCursor(own: unknown, expected: unknown): unknown {
  const { turnsNextCursor, ...rest } = own as Turns
  const more = rest.turns.length < (expected as Turns).turns.length
  return more === (turnsNextCursor !== undefined) ? rest : own
}
