import type { Action, Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import type { ChannelKind } from '@atrium/protocol/kind'
import { v09 } from '@atrium/protocol/versions/steps/v0-9'
import { alike } from './reference-model.ts'

/** Action types that 0.9 does not know, written by hand: the lens under test is not asked. */
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

/** A client's view of the log: its protocol version, and the chats of which it holds only the newest turns. */
export class ClientView {
  readonly version: '1.0.0' | '0.9.0'
  /** Chats that it ever subscribed to with a limited number of turns. */
  readonly windowed = new Set<Uri>()

  constructor(version: '1.0.0' | '0.9.0') {
    this.version = version
  }

  get #old(): boolean {
    return this.version === '0.9.0'
  }

  knows({ type }: Action): boolean {
    return !(this.#old && later.has(type))
  }

  reduce(kind: ChannelKind, state: unknown, action: Action): unknown {
    return this.knows(action) ? kind.reduce(state, action) : state
  }

  /** The action as this version receives it; undefined where the version has no such action. */
  translate(kind: ChannelKind, action: Action): Action | undefined {
    return this.#old ? v09.actionDown(kind.name as KindName, action)[0] : action
  }

  /** Whether the client's state agrees with the model's state. */
  agrees(uri: Uri, kind: ChannelKind, own: unknown, expected: unknown): boolean {
    const whole = this.#old && expected ? v09.stateDown(kind.name as KindName, expected) : expected
    if (this.#old && kind.name === 'session') return alike(kind, unordered(own), unordered(whole))
    return alike(kind, this.windowed.has(uri) ? withCursor(own, whole) : own, this.#cut(uri, own, whole))
  }

  #cut(uri: Uri, own: unknown, expected: unknown): unknown {
    if (!this.windowed.has(uri)) return expected
    const { turns } = expected as Turns
    return { ...(expected as Turns), turns: turns.slice(turns.length - (own as Turns).turns.length) }
  }
}

/** The state with its chats sorted by URI, because only 1.0 can reorder chats. */
function unordered(state: unknown): unknown {
  const { chats, ...rest } = state as { readonly chats: readonly { readonly resource: Uri }[] }
  return { ...rest, chats: chats.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)) }
}

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
