import type { KindName } from '@atrium/protocol/reducers'
import { withoutGaps } from '@atrium/protocol/versions/gaps'
import { isBefore } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'

type Shape = { readonly [key: string]: unknown }

/**
 * Returns the state of an older version without what cannot be equal: known gaps (V10), the time of the last change,
 * which older reducers take from their own clock, and what no action can change.
 */
export function comparable(version: Version, kind: KindName, state: unknown): unknown {
  const merged = isBefore(version, '0.4.0')
  const kinds: readonly KindName[] = merged && kind === 'session' ? ['session', 'chat'] : [kind]
  const left = kinds.reduce((shape, each) => withoutGaps(version, each, shape), state as object)
  return isBefore(version, '0.9.0') ? withoutTimes(left as Shape, kind) : left
}

function withoutTimes(state: Shape, kind: KindName): Shape {
  const { modifiedAt: _, ...rest } = state
  const { summary, chats } = rest as { summary?: Shape; chats?: readonly Shape[] }
  return {
    ...rest,
    ...(summary && { summary: withoutDerived(summary, kind) }),
    ...(Array.isArray(chats) && { chats: chats.map(({ modifiedAt: __, ...chat }: Shape) => chat) }),
  }
}

/**
 * Returns the `summary` without times and without fields that no action can change. Up to 0.4 the `summary` holds a
 * part of the state. For a chat, the title and the directory are removed too: up to 0.3 they come from its entry in
 * the session.
 */
function withoutDerived(summary: Shape, kind: KindName): Shape {
  const { modifiedAt: _, createdAt: __, project: ___, annotations: ____, ...rest } = summary
  if (kind !== 'chat') return rest
  const { title: _title, workingDirectory: _directory, ...own } = rest
  return own
}
