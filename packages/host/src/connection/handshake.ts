import type { Action, Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { negotiate } from '@atrium/protocol/versions/negotiate'
import { needsRow } from '../log/channel-rows.ts'
import type { Channel } from '../log/channel.ts'
import { infoOf } from '../core/clients.ts'
import type { ClientRecord } from '../core/clients.ts'
import type { Core } from '../core/core.ts'
import { supportedVersions } from './dialect.ts'
import type { Dialect } from './dialect.ts'
import { inEpoch } from '../log/epochs.ts'
import type { StoredEnvelope } from '../ports/log.ts'
import { replay, replayable } from './replay.ts'
import type { Say } from './replay.ts'
import { Resends } from './resends.ts'
import { wakeIfSound } from '../channels/wake.ts'

/** How a link begins: who it is, what it hears from now on, and what it may send again. */
export interface Opened {
  readonly record: ClientRecord
  readonly resends: Resends
  /** The highest number that the client may have seen. */
  readonly seen: number
  /** The channels it asked for and that were there. */
  readonly held: readonly Channel[]
}

/** What a link does while it is being opened. From `hold` on it hears the channel, and what it hears waits. */
export interface Opening {
  readonly principal: string
  readonly dialect: Dialect
  /** From now on this is the client's link: an older one is closed, also one that is still being opened. */
  claim(clientId: string): void
  hold(channel: Channel): void
}

export async function initialize(
  core: Core,
  opening: Opening,
  params: Params<'initialize'>,
): Promise<Opened & { offered: string }> {
  const { offered, version } = negotiate(params.protocolVersions, supportedVersions)
  const { clientId, clientInfo } = params
  const wanted = listed(core, params.initialSubscriptions ?? [])
  const known = await takeOver(core, opening, clientId)
  const own = known ? await ownOf(core, clientId) : []
  if (known && known.handed.size > 0) await forgetHanded(core, known)
  const held = await holdAll(core, opening, wanted)
  const about = clientInfo && { info: infoOf(clientInfo) }
  const record = { clientId, principal: opening.principal, version, handed: new Map(), ...about }
  return { offered, record, resends: new Resends(own), seen: known ? core.log.committedSeq : 0, held }
}

/** A client comes back: the envelopes up to a number if they are all there, else nothing, and it gets snapshots. */
export async function reconnect(
  core: Core,
  opening: Opening,
  { clientId, lastSeenServerSeq: lastSeen, subscriptions }: Params<'reconnect'>,
): Promise<Opened & { replayed: readonly string[] | undefined; upTo: number }> {
  const wanted = listed(core, subscriptions)
  const known = await takeOver(core, opening, clientId)
  if (!known) throw AhpError.notFound('this host does not know the client id: initialize instead')
  const held = await holdAll(core, opening, wanted)
  const seen =
    lastSeen >= core.log.first - 1 ? lastSeen <= core.log.committedSeq : inEpoch(core.earlierEpochs, lastSeen)
  const own = await ownOf(core, clientId, seen ? lastSeen : undefined)
  const upTo = core.log.committedSeq
  const whole = seen && replayable(known.handed, held, lastSeen)
  opening.dialect.useVersion(known.version)
  const tongue = { dialect: opening.dialect, known }
  const replayed = whole ? await replayIfSound(core, held, lastSeen, upTo, tongue) : undefined
  const handed = new Map([...known.handed].filter(([uri]) => wanted.has(uri)))
  return { record: { ...known, handed }, resends: new Resends(own), seen: lastSeen, held, replayed, upTo }
}

/** The newest link of a client is the one that counts. What the older had read and not dispatched is dropped. */
async function takeOver(core: Core, opening: Opening, clientId: string): Promise<ClientRecord | undefined> {
  // Before anything is waited for: of two that come at once the later counts.
  opening.claim(clientId)
  return core.clients.find(clientId, opening.principal)
}

/**
 * A client that begins anew has no state of what it was handed before. The disk knows it first: else a crash could make
 * the host believe that it has.
 */
async function forgetHanded(core: Core, known: ClientRecord): Promise<void> {
  core.clients.keep({ ...known, handed: new Map() })
  await core.log.settled()
}

/**
 * What a client dispatched that may come again, on the disk or on its way there: everything above the number it has
 * seen, and in any case the newest. A snapshot moves that number past echoes that were never told.
 */
async function ownOf(core: Core, clientId: string, lastSeen = Infinity): Promise<readonly StoredEnvelope[]> {
  const newestOwn = core.limits.resends
  const waiting = [...core.log.ephemeralOf(clientId), ...core.log.uncommittedOf(clientId)]
  const newest = await core.store.log.dispatchedBy(clientId, 0, newestOwn)
  const more = newest.length === newestOwn && (newest[0]?.seq ?? 0) > lastSeen
  const stored = more
    ? await core.store.log.dispatchedBy(clientId, lastSeen, Number.MAX_SAFE_INTEGER)
    : newest
  const known = new Set(stored.map(({ seq }) => seq))
  return [...stored, ...waiting.filter(({ seq }) => !known.has(seq))]
}

/**
 * If unsure, snapshots: also where what is stored cannot be read, and where somebody who had the newest turns only may lack
 * the one that an action names.
 */
async function replayIfSound(
  core: Core,
  channels: readonly Channel[],
  after: number,
  upTo: number,
  { dialect, known }: { dialect: Dialect; known: ClientRecord },
) {
  const say: Say = (channel, said) =>
    dialect.envelopes(channel, said, said.origin?.clientId === known.clientId)
  // What it had of the turns was a part.
  const lacks = ({ uri }: Channel, action: string) =>
    known.handed.get(uri)?.cut !== undefined && needsRow(JSON.parse(action) as Action)
  return replay(core.log, core.store.log, channels, after, upTo, { say, lacks }).catch((error: unknown) => {
    core.world.report('replay failed', error)
    return undefined
  })
}

/** Before anything is done: each of them may have to be read from the disk. */
function listed(core: Core, uris: readonly Uri[]): ReadonlySet<Uri> {
  const wanted = new Set(uris)
  if (wanted.size > core.limits.subscriptions) throw tooManySubscriptions(core)
  return wanted
}

export function tooManySubscriptions({ limits }: Core): AhpError {
  return AhpError.permissionDenied(
    `a link follows at most ${limits.subscriptions} channels: unsubscribe first`,
  )
}

async function holdAll(core: Core, opening: Opening, uris: ReadonlySet<Uri>): Promise<readonly Channel[]> {
  const channels: Channel[] = []
  for (const uri of uris) {
    const channel = await wakeIfSound(core, uri)
    if (!channel) continue
    opening.hold(channel)
    channels.push(channel)
  }
  return channels
}
