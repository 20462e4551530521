import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { DamagedChannel, LoadedChannel } from './ports/log.ts'

/** A channel whose stored history cannot be trusted. It is set aside, and nothing of it is deleted. */
export class Damaged extends Error {
  override readonly name = 'Damaged'
}

/** A channel's state from what is stored of it: the newest head, and what came after folded over it. */
export function rebuild(
  uri: Uri,
  loaded: LoadedChannel | DamagedChannel,
): { kind: ChannelKind; state: unknown } {
  if ('damaged' in loaded) throw new Damaged(`the stored history of ${uri} is damaged: ${loaded.damaged}`)
  const kind = kindNamed(loaded.kind)
  if (!kind)
    throw new Damaged(`the stored history of ${uri} is of a kind this build does not know: ${loaded.kind}`)
  try {
    const state = loaded.envelopes.reduce<unknown>(
      (before, envelope) => kind.reduce(before, JSON.parse(envelope.action) as Action),
      beginning(kind, loaded),
    )
    return { kind, state }
  } catch (error) {
    throw new Damaged(`the stored history of ${uri} cannot be folded: ${String(error)}`)
  }
}

/** The state to fold from. A head says how many rows it had: since then their list only grew. */
function beginning(kind: ChannelKind, { state: text, rows, fromBirth }: LoadedChannel): unknown {
  const state = JSON.parse(text) as Record<string, unknown>
  if (kind.rows === undefined || fromBirth) return state
  const there = rows.slice(0, Number(state[kind.rows]))
  return { ...state, [kind.rows]: there.map((row) => JSON.parse(row) as unknown) }
}
