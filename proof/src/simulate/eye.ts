import type { Action, Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import type { ChannelKind } from '@atrium/protocol/kind'
import { v09 } from '@atrium/protocol/versions/v0-9'
import { alike } from './truth.ts'

/** What 0.9 has no name for, written by hand: what the lens believes is not asked. */
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

/** How a client sees the world: in its generation, and of some chats the newest turns only. */
export class Eye {
  readonly version: '1.0.0' | '0.9.0'
  /** Chats that it has ever asked for a part of. */
  readonly narrow = new Set<Uri>()

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

  /** An action as it is told; nothing where this generation has no words for it. */
  told(kind: ChannelKind, action: Action): Action | undefined {
    return this.#old ? v09.actionDown(kind.name as KindName, action)[0] : action
  }

  /** Whether a state that it has says what is true. */
  sees(uri: Uri, kind: ChannelKind, own: unknown, truth: unknown): boolean {
    const whole = this.#old && truth ? v09.stateDown(kind.name as KindName, truth) : truth
    if (this.#old && kind.name === 'session') return alike(kind, unordered(own), unordered(whole))
    return alike(kind, this.narrow.has(uri) ? withCursor(own, whole) : own, this.#cut(uri, own, whole))
  }

  #cut(uri: Uri, own: unknown, truth: unknown): unknown {
    if (!this.narrow.has(uri)) return truth
    const { turns } = truth as Turns
    return { ...(truth as Turns), turns: turns.slice(turns.length - (own as Turns).turns.length) }
  }
}

/** The order of chats is 1.0's own. */
function unordered(state: unknown): unknown {
  const { chats, ...rest } = state as { readonly chats: readonly { readonly resource: Uri }[] }
  return { ...rest, chats: chats.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)) }
}

interface Turns {
  readonly turns: readonly { readonly id: string }[]
  readonly turnsNextCursor?: string
}

/** There is a cursor where there is more, and only there. Where that is so it is left out of the comparison. */
function withCursor(own: unknown, truth: unknown): unknown {
  const { turnsNextCursor, ...rest } = own as Turns
  const more = rest.turns.length < (truth as Turns).turns.length
  return more === (turnsNextCursor !== undefined) ? rest : own
}
