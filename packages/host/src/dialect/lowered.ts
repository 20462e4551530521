import type { Action } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import { rebuild } from '@atrium/protocol/versions/lens'
import type { ActionContext, Lens } from '@atrium/protocol/versions/lens'
import type { Channel } from '../kernel/log/channel.ts'
import type { Entry, EnvelopeParts } from '../kernel/log/entry.ts'
import type { Generation } from '../kernel/generation.ts'

/** The older forms of an entry, or `rebuild` if the older version has none and the client must get a snapshot. */
export type LoweredParts = readonly EnvelopeParts[] | typeof rebuild

/** Translates an entry into an older version. `viewer`: the client that gets it. */
export function loweredEntry(lens: Lens, entry: Entry, viewer: string): LoweredParts {
  const { kind, action, states } = entry
  // A page of history is sent to a client that lacks turns. A client that cannot read pages must get a snapshot.
  if (action.type === 'chat/turnsLoaded' && !lens.knows(action.type)) return rebuild
  const context = states && { viewer, ...states }
  return lowered(lens, { kind, action, context, room: entry.last - entry.seq + 1 }, entry)
}

interface Lowering {
  readonly kind: KindName
  readonly action: Action
  readonly context?: ActionContext | undefined
  /** How many sequence numbers the action has taken. */
  readonly room: number
}

/**
 * Translates an action into an older version, which may need several actions for it. Each of them has a sequence number of
 * its own, which was reserved when the action was numbered. One of them has the origin (the client that dispatched the action):
 * the one with the same type as the action, or the first if no type is the same.
 */
export function lowered(lens: Lens, lowering: Lowering, parts: EnvelopeParts): LoweredParts {
  const { kind, action, context, room } = lowering
  if (lens.leaves(action.type)) return [parts]
  const actions = lens.actionDown(kind, action, context)
  if (actions === rebuild || actions.length > room) return rebuild
  if (actions.length === 1 && actions[0] === action) return [parts]
  const named = action.type.slice(action.type.indexOf('/'))
  const main = Math.max(
    0,
    actions.findIndex(({ type }) => type.endsWith(named)),
  )
  return actions.map((each, at) => ({
    seq: parts.seq + at,
    text: JSON.stringify(each),
    origin: at === main ? parts.origin : undefined,
  }))
}

/** Whether the older form of an entry depends on the client that gets it. */
export function isPerViewer({ single }: Generation, { action }: Entry): boolean {
  return single && action.type.startsWith('session/activeClient')
}

/**
 * How many sequence numbers a stored action has taken at least. Actions of earlier builds may have taken fewer than those of
 * this build.
 */
export function storedRoom({ kind: { strides } }: Channel, { type }: Action): number {
  const stride = strides.get(type)
  return typeof stride === 'number' && reservedSince.has(type) ? stride : 1
}

/** The types of actions for which every build has reserved all of their sequence numbers. */
const reservedSince: ReadonlySet<string> = new Set(['session/ready'])
