import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { Device } from '@atrium/protocol/root/device'
import { damageOf, loadRowsFor, unlessUnsound, wake, wakeIfSound } from '../channels/wake.ts'
import type { ClientRecord } from '../kernel/clients.ts'
import type { View } from '../kernel/link.ts'
import type { Core } from '../kernel/core.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { Listener } from '../kernel/log/entry.ts'
import { lostHistory } from '../kernel/log/epochs.ts'
import type { StoredEnvelope } from '../ports/log.ts'
import type { Dialect } from '../dialect/dialect.ts'
import type { Outbox } from './outbox.ts'
import type { Resends } from './resends.ts'
import type { Subscriptions } from './subscriptions.ts'

/** The result of a handshake: the record of the client, and the dispatches that the client may repeat. */
export interface Opened {
  readonly record: ClientRecord
  readonly resends: Resends
  /** The highest sequence number that the client may have seen. */
  readonly seen: number
}

/** A connection during its handshake. */
export interface OpeningLink extends Listener {
  readonly principal: string
  readonly device?: Device | undefined
  readonly clientId: string
  readonly dialect: Dialect
  readonly subscriptions: Subscriptions
  readonly outbox: Outbox
  /**
   * Makes this the client's connection. Closes the client's older connection, even if the handshake of the older connection is
   * not over.
   */
  claim(clientId: string): void
  /** Follows a stateless channel, as in `Subscriber`. */
  follow(uri: Uri): boolean | AhpError
  /** Subscribes to a channel. The entries of the channel wait in the outbox until the handshake's response is sent. */
  hold(channel: Channel): void
  /** Ends the subscription to a channel, and to the channels that it includes. */
  unsubscribe(uri: Uri): void
  /** Completes the handshake. Nothing after this call may fail. */
  open(opened: Opened): void
}

/** The channels that a client asked for: each canonical URI with the name that the client uses. */
export type RequestedChannels = Map<Uri, Uri>

/** Resolves the channel names in a handshake. Throws if there are too many, before anything is read from the disk. */
export function requestedChannels(
  core: Core,
  { dialect }: OpeningLink,
  names: readonly Uri[],
): RequestedChannels {
  const requested = new Map(names.map((name) => [dialect.canonicalUri(name), name]))
  if (requested.size > core.limits.subscriptions) throw tooManySubscriptions(core)
  return requested
}

export function tooManySubscriptions({ limits }: Core): AhpError {
  return AhpError.permissionDenied(
    `a connection follows at most ${limits.subscriptions} channels: name fewer, or unsubscribe from one first`,
  )
}

export function setAliases({ dialect }: OpeningLink, requested: RequestedChannels): void {
  for (const [uri, name] of requested) dialect.setAlias(uri, name)
}

/**
 * Takes the client over from its older connection. Frames that the older connection has read but not dispatched are
 * dropped. Returns the stored record of the client; undefined if there is none.
 */
export function claimClient(
  core: Core,
  link: OpeningLink,
  clientId: string,
): Promise<ClientRecord | undefined> {
  // The claim comes before the first `await`, so that of two concurrent connections the later one wins.
  link.claim(clientId)
  return core.clients.find(clientId, link.principal, link.device?.id)
}

/**
 * Returns the actions that a client dispatched and may send again, stored or not: all actions above `lastSeen`, and always
 * the newest ones. The newest are needed because a snapshot can move `lastSeen` past actions whose echoes were never sent.
 */
export async function dispatchesOf(
  core: Core,
  clientId: string,
  lastSeen = Infinity,
): Promise<readonly StoredEnvelope[]> {
  const newestOwn = core.limits.resends
  const waiting = [...core.log.ephemeralOf(clientId), ...core.log.uncommittedOf(clientId)]
  const newest = await core.store.log.dispatchedBy(clientId, 0, newestOwn)
  const more = newest.length === newestOwn && (newest[0]?.seq ?? 0) > lastSeen
  const stored = more
    ? await core.store.log.dispatchedBy(clientId, lastSeen, Number.MAX_SAFE_INTEGER)
    : newest
  const storedSeqs = new Set(stored.map(({ seq }) => seq))
  return [...stored, ...waiting.filter(({ seq }) => !storedSeqs.has(seq))]
}

/**
 * The requested channels that are subscribed, and a description of the damage of each damaged one, by the client's name for it.
 */
interface HeldChannels {
  readonly held: readonly Channel[]
  readonly damaged: { readonly [name: Uri]: string }
}

/** Loads the requested channels into memory, and subscribes to those that exist and are not damaged. Removes followed stateless ones from `requested`. */
export async function holdAll(
  core: Core,
  link: OpeningLink,
  requested: RequestedChannels,
): Promise<HeldChannels> {
  const held: Channel[] = []
  const damaged = new Map<Uri, string>()
  for (const [uri, name] of requested) {
    // A stateless channel has no snapshot, and there is nothing to replay.
    if (link.follow(uri) === true) {
      requested.delete(uri)
      continue
    }
    let channel: Channel | undefined
    const damage = await damageOf(core, async () => void (channel = await wake(core, uri)))
    if (damage !== undefined) damaged.set(name, damage)
    if (!channel || !link.dialect.reaches(channel, name)) continue
    const included = await wakeAll(core, link.dialect.includedWith(uri))
    for (const each of [channel, ...included]) {
      if (each !== channel) link.dialect.setAlias(each.uri, name)
      link.hold(each)
      held.push(each)
    }
  }
  return { held, damaged: Object.fromEntries(damaged) }
}

async function wakeAll(core: Core, uris: readonly Uri[]): Promise<readonly Channel[]> {
  const awake = await Promise.all(uris.map((uri) => wakeIfSound(core, uri)))
  return awake.filter((channel) => channel !== undefined)
}

/** What the result of a handshake adds about the store of the host. */
interface StoreNote {
  /** The damaged channels, which a client could otherwise take for disposed ones. */
  readonly damaged?: HeldChannels['damaged']
  /** Says that the host has lost actions that clients may have seen. */
  readonly lost?: string
}

export function storeNote(damaged: HeldChannels['damaged'], lost: boolean): StoreNote {
  return { ...(Object.keys(damaged).length > 0 && { damaged }), ...(lost && { lost: lostHistory }) }
}

/**
 * Loads the finished turns of chats (their rows) that the snapshots will contain. If stored turns are damaged, the
 * snapshot contains only the turns in memory.
 */
export async function loadSnapshotRows(
  core: Core,
  channels: readonly Channel[],
  { handed }: ClientRecord,
): Promise<void> {
  for (const channel of channels) {
    const turns = handed.get(channel.uri)?.turns
    await loadRowsFor(core, channel, turns === undefined ? {} : { turns }).catch(unlessUnsound)
  }
}

/**
 * Returns the snapshots for the response to a handshake. The response must fit into one message. Once it is long, the
 * snapshots of further chats have no finished turns; the client can request these turns page by page. A channel whose snapshot
 * does not fit at all is left out; the client can subscribe to it afterwards.
 */
export function snapshotsFor(core: Core, link: OpeningLink, channels: readonly Channel[]): readonly string[] {
  const { turnsLength, answerLength } = core.limits
  const texts: string[] = []
  let length = 0
  for (const group of groupsOf(link, channels)) {
    const text = snapshotFor(link, group, length > turnsLength ? { turns: 0 } : {})
    if (length + text.length > answerLength - overhead) link.unsubscribe(group[0].uri)
    else {
      texts.push(text)
      length += text.length
    }
  }
  return texts
}

/** A channel with the channels that its snapshot includes. */
type Group = readonly [Channel, ...Channel[]]

function groupsOf({ dialect }: OpeningLink, channels: readonly Channel[]): readonly Group[] {
  const included = new Map(channels.map((channel) => [channel, dialect.includedWith(channel.uri)]))
  const inner = new Set([...included.values()].flat())
  return channels
    .filter(({ uri }) => !inner.has(uri))
    .map((channel) => [channel, ...channels.filter(({ uri }) => included.get(channel)?.includes(uri))])
}

/** The number of characters that is kept free for the rest of a handshake's response. */
const overhead = 1024 * 1024

function snapshotFor({ dialect, subscriptions }: OpeningLink, group: Group, cut: View): string {
  const [channel] = group
  const shown = { ...subscriptions.of(channel).view, ...cut }
  for (const each of group) {
    const { view, latency } = subscriptions.of(each)
    subscriptions.sendSnapshot(each, { view, latency, leftOut: dialect.leftOut(each, shown) })
  }
  return dialect.snapshot(channel, shown)
}

/**
 * Resolves when the removal of one of these channels is committed; undefined if none waits for that. A handshake must not
 * leave out a channel that a crash would bring back: the client would take it for missing.
 */
export function removalIn({ log }: Core, held: readonly Channel[]): Promise<void> | undefined {
  const removed = held.find(({ uri }) => log.isDropped(uri))
  return removed && log.removed(removed.uri)
}

export function exists(core: Core, channel: Channel): boolean {
  return core.log.channel(channel.uri) === channel
}

/**
 * Keeps the subscriptions to the held channels that still exist, and ends the others. Discards waiting entries of two sorts:
 * those that the response already contains (`upTo` and below), and those of channels that the client does not follow. The
 * client's own actions are not discarded for the second reason. Returns the channels that exist.
 */
export function keepExisting(
  core: Core,
  link: OpeningLink,
  held: readonly Channel[],
  upTo: number,
): readonly Channel[] {
  const channels = held.filter((channel) => exists(core, channel))
  link.subscriptions.retain(channels)
  const followed = new Set(channels.map(({ uri }) => uri))
  link.outbox.discard(
    ({ seq, channel, origin }) =>
      seq <= upTo || !(followed.has(channel) || origin?.clientId === link.clientId),
  )
  return channels
}
