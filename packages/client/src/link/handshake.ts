import type { Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { Peer } from '@atrium/protocol/rpc/peer'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../sync/channel.ts'
import type { Check } from '../shared/check.ts'
import type { Subscriptions } from '../sync/subscriptions.ts'

/** What a host says of itself. */
export type HostInfo = Omit<Result<'initialize'>, 'snapshots'>

/** How a client says who it is. */
export interface ClientHello {
  readonly clientId: string
  readonly versions: readonly string[]
  readonly info?: Implementation
  readonly locale?: string
  /** For the host, beside what the protocol asks for. */
  readonly _meta?: { readonly [key: string]: unknown }
}

/**
 * Says who one is. Everything is read the moment the answer is, before any later frame: a snapshot is in place ahead of
 * what follows it.
 */
export function initialize(
  peer: Peer,
  { clientId, versions, info, locale, _meta }: ClientHello,
  following: Subscriptions,
  check: Check,
  opened: (host: HostInfo, asked: readonly Channel[]) => void,
): Promise<unknown> {
  // A view is asked for by a request of its own.
  const plain = following.all.filter(
    ({ options, status }) => Object.keys(options).length === 0 && status !== 'gone',
  )
  for (const channel of plain) channel.hold()
  const params = {
    channel: rootUri,
    protocolVersions: versions,
    clientId,
    ...(info && { clientInfo: info }),
    ...(locale !== undefined && { locale }),
    ...(_meta && { _meta }),
    initialSubscriptions: plain.map(({ uri }) => uri),
  }
  return peer.request('initialize', params, (value) => {
    const { snapshots, ...host } = check.result('initialize', value)
    following.reset(host.serverSeq, snapshots)
    opened(host, plain)
  })
}

/** Comes back: with what was missed, or, if the host will not, with everything as it is now. */
export function reconnect(
  peer: Peer,
  { clientId }: ClientHello,
  following: Subscriptions,
  check: Check,
  opened: (asked: readonly Channel[]) => void,
): Promise<unknown> {
  // A replay of anything else would be of no use, or do harm.
  const had = following.all.filter(({ resumable }) => resumable)
  for (const channel of had) channel.hold()
  const params = {
    channel: rootUri,
    clientId,
    lastSeenServerSeq: following.lastSeen,
    subscriptions: had.map(({ uri }) => uri),
  }
  return peer.request('reconnect', params, (value) => {
    const result = check.result('reconnect', value)
    if (result.type === 'replay') {
      for (const uri of result.missing)
        following.gone(following.get(uri), AhpError.notFound(`there is no ${uri} any more`))
      following.replay(had, result.actions)
    } else {
      // What numbers the host has now is its own affair: it may have begun anew.
      following.reset(Math.max(0, ...result.snapshots.map(({ fromSeq }) => fromSeq)), result.snapshots)
    }
    opened(had)
  })
}
