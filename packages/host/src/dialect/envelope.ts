import type { Action } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import { envelopeText } from '../kernel/log/entry.ts'
import type { EnvelopeParts } from '../kernel/log/entry.ts'
import type { Generation } from '../kernel/generation.ts'

/** Makes the JSON of an envelope in a protocol version. `label`: the name of the channel as JSON. */
export function envelopeOf(
  { nested }: Generation,
  kind: KindName,
  label: string,
  parts: EnvelopeParts,
): string {
  if (!nested) return envelopeText(label, parts)
  const key = kind === 'terminal' ? 'terminal' : kind === 'root' ? undefined : 'session'
  const text = key === undefined ? parts.text : withMember(parts, key, label)
  const whole = envelopeText(label, { ...parts, text })
  // In 0.1 the envelope has no channel. In `whole` the channel is the first member, so it can be cut off.
  return `{${whole.slice(`{"channel":${label},`.length)}`
}

/** Adds the channel to an action. A refused action already has the channel, because it is sent back as the client sent it. */
function withMember({ text, reason }: EnvelopeParts, key: string, label: string): string {
  if (reason !== undefined) return text
  return `${text.slice(0, -1)},"${key}":${label}}`
}

/** Removes the name of the channel from an action of 0.1. */
export function withoutChannel(action: Action): Action {
  const { session: _session, terminal: _terminal, ...rest }: NestedAction = action
  return rest
}

interface NestedAction extends Action {
  readonly session?: unknown
  readonly terminal?: unknown
}
