import type { Envelope, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ChannelKind } from '@atrium/protocol/kind'
import { rootUri } from '@atrium/protocol/uri'
import { changeable } from '../../judge/rules.ts'

/** Returns the kind of a channel, by the form of its URI. This also works for a channel of which nothing is left. */
export function kindOf(uri: Uri): ChannelKind | undefined {
  return kindNamed(uri === rootUri ? 'root' : (/^ahp-([a-z]+):/.exec(uri)?.[1] ?? ''))
}

/** Returns JSON with sorted keys: equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/** Returns the text of a state for comparisons, without fields that no action can change. */
export function comparable(kind: Pick<ChannelKind, 'derived'>, state: unknown): string {
  return canonical(changeable(kind, state))
}

/** Whether two states agree, apart from the text of an active turn: a crash may lose text that was sent before it was durable (I8). */
export function alike(kind: ChannelKind, a: unknown, b: unknown): boolean {
  if (comparable(kind, a) === comparable(kind, b)) return true
  return kind.name === 'chat' && comparable(kind, textless(a)) === comparable(kind, textless(b))
}

/** Returns the chat without the text of its active turn. */
function textless(state: unknown): unknown {
  const { activeTurn, ...rest } = state as ChatState
  const parts = activeTurn?.responseParts.map((part) => ({ ...part, content: '' }))
  return activeTurn ? { ...rest, activeTurn: { ...activeTurn, responseParts: parts } } : rest
}

/**
 * Whether an envelope may be delivered before it is durable. Several such envelopes in a row may also be delivered as
 * one.
 */
export function isRelaxed({ channel, action }: Envelope): boolean {
  return kindOf(channel)?.classes.get(action.type) === 'relaxed'
}
