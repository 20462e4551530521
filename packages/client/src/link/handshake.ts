import type { Uri } from '@atrium/protocol/channel'
import type { Result } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { Peer } from '@atrium/protocol/rpc/peer'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../sync/channel.ts'
import type { Check } from '../shared/check.ts'
import type { ClientProblem } from '../shared/errors.ts'
import type { Subscriptions } from '../sync/subscriptions.ts'

/** The host's description of itself. */
export type HostInfo = Omit<Result<'initialize'>, 'snapshots'>

/** The client's description of itself. */
export interface ClientHello {
  readonly clientId: string
  readonly versions: readonly string[]
  readonly info?: Implementation
  readonly locale?: string
  /** Additional data for the host. */
  readonly _meta?: { readonly [key: string]: unknown }
}

export interface HandshakeContext {
  readonly peer: Peer
  readonly hello: ClientHello
  readonly subscriptions: Subscriptions
  readonly check: Check
  readonly problem: (problem: ClientProblem) => void
}

/**
 * Sends `initialize`. The response is processed synchronously, before any later frame, so that a snapshot is in place before
 * the actions that follow it.
 */
export function initialize(
  { peer, hello, subscriptions, check, problem }: HandshakeContext,
  opened: (host: HostInfo, requested: readonly Channel[]) => void,
): Promise<unknown> {
  const { clientId, versions, info, locale, _meta } = hello
  // `initialize` subscribes without options only. A channel with options gets its own `subscribe` request.
  const plain = subscriptions.all.filter(
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
    subscriptions.reset(host.serverSeq, snapshots)
    opened(host, plain)
    reportLoss(host, problem)
  })
}

/** Sends `reconnect`. The host replays the missed actions or, if it cannot, sends new snapshots. */
export function reconnect(
  { peer, hello, subscriptions, check, problem }: HandshakeContext,
  opened: (requested: readonly Channel[]) => void,
): Promise<unknown> {
  // Only channels with a valid state ask for a replay: missed actions cannot be reduced over a missing or wrong state.
  const resumed = subscriptions.all.filter(({ resumable }) => resumable)
  for (const channel of resumed) channel.hold()
  const params = {
    channel: rootUri,
    clientId: hello.clientId,
    lastSeenServerSeq: subscriptions.lastSeen,
    subscriptions: resumed.map(({ uri }) => uri),
  }
  return peer.request('reconnect', params, (value) => {
    const result = check.result('reconnect', value)
    if (result.type === 'replay') {
      for (const uri of result.missing) subscriptions.gone(subscriptions.get(uri), missingError(uri, result))
      subscriptions.replay(resumed, result.actions)
    } else {
      // The host may have started a new sequence, so the highest number in the snapshots replaces `lastSeen`.
      subscriptions.reset(Math.max(0, ...result.snapshots.map(({ fromSeq }) => fromSeq)), result.snapshots)
    }
    opened(resumed)
    reportLoss(result, problem)
  })
}

/**
 * Returns the error for a channel that the host did not resume. An Atrium host lists damaged channels in the result.
 * A channel that is not in this list no longer exists.
 */
function missingError(uri: Uri, result: unknown): AhpError {
  const damage = member(member(atriumNote(result), 'damaged'), uri)
  return typeof damage === 'string'
    ? new AhpError(errorCodes.InternalError, damage)
    : AhpError.notFound(`there is no ${uri} any more`)
}

/** Reports that the host has lost confirmed actions. An Atrium host says so in the result of a handshake. */
function reportLoss(result: unknown, problem: HandshakeContext['problem']): void {
  const lost = member(atriumNote(result), 'lost')
  if (typeof lost === 'string') problem({ kind: 'rollback', detail: lost })
}

function atriumNote(result: unknown): unknown {
  return member(member(result, '_meta'), 'x-atrium')
}

function member(value: unknown, key: string): unknown {
  // The cast is safe: any object may be asked for any key.
  return typeof value === 'object' && value !== null ? (value as { [key: string]: unknown })[key] : undefined
}
