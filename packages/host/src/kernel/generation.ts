import type { KindName } from '@atrium/protocol/reducers'
import type { Lens } from '@atrium/protocol/versions/lens'
import { lenses } from '@atrium/protocol/versions/lenses'
import { isBefore, nativeVersion } from '@atrium/protocol/versions/negotiate'
import { hasKind } from '@atrium/protocol/versions/step'
import type { Version } from '@atrium/protocol/versions/negotiate'

/** What the host itself must know of a protocol version. The lens translates everything else. */
export interface Generation {
  readonly version: Version
  /** Translates between this version and the host's own, called native. Undefined for the native version. */
  readonly lens: Lens | undefined
  /** Up to 0.3 a session and its primary chat (the default chat, or else the first one) are one channel. */
  readonly merged: boolean
  /** Up to 0.4 a session has one active client, and a model and an agent of its own. */
  readonly single: boolean
  /** Up to 0.5.2 the host adds times to a client's actions; up to 0.4 a model and an agent, too. */
  readonly fills: boolean
  /** Up to 0.5.0 a client gets a page of turns as the result of its request, and the list of sessions as a whole. */
  readonly unpaged: boolean
  /** In 0.1 an action names its own channel, and the envelope does not. */
  readonly nested: boolean
  /**
   * Whether an action is refused if the version does not have it. False from 0.9 on, because released clients of 0.9
   * use actions of 1.0.
   */
  readonly strict: boolean
}

/** The versions that a client can negotiate. */
export const supportedVersions: readonly Version[] = [...lenses.keys()]

const generations = new Map(supportedVersions.map((version) => [version, generation(version)]))

export const native: Generation = generation(nativeVersion)

export function generationOf(version: Version): Generation {
  return generations.get(version) ?? native
}

/** Whether channels of a kind exist in a version. Up to 0.3 a chat is shown as a session. */
export function serves({ version }: Generation, kind: KindName): boolean {
  return kind === 'chat' || hasKind(version, kind)
}

function generation(version: Version): Generation {
  return {
    version,
    lens: lenses.get(version),
    merged: isBefore(version, '0.4.0'),
    single: isBefore(version, '0.5.0'),
    fills: isBefore(version, '0.6.0'),
    unpaged: isBefore(version, '0.5.1'),
    nested: isBefore(version, '0.2.0'),
    strict: isBefore(version, '0.9.0'),
  }
}
