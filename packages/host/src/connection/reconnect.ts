import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { ContextMissing } from '@atrium/protocol/versions/lens'
import { withNaming } from '../kernel/clients.ts'
import type { ClientRecord } from '../kernel/clients.ts'
import type { Core } from '../kernel/core.ts'
import { generationOf } from '../kernel/generation.ts'
import { firstRootUri } from '../dialect/session-names.ts'
import type { Channel } from '../kernel/log/channel.ts'
import { needsRow } from '../kernel/log/channel-rows.ts'
import { inEpoch, wasLost } from '../kernel/log/epochs.ts'
import {
  claimClient,
  dispatchesOf,
  exists,
  holdAll,
  keepExisting,
  loadSnapshotRows,
  removalIn,
  requestedChannels,
  setAliases,
  snapshotsFor,
  storeNote,
  tooManySubscriptions,
} from './opening.ts'
import type { OpeningLink } from './opening.ts'
import { replay, replayable } from './replay.ts'
import type { EnvelopeEncoder, ReplayRange } from './replay.ts'
import { Resends } from './resends.ts'
import { sawPart } from './seen-part.ts'
import { storedAction } from '../kernel/log/entry.ts'

/**
 * Runs `reconnect`. Returns the result as JSON: the envelopes that the client missed if all of them can be replayed, otherwise
 * snapshots. `named` says whether the params have a `channel`. AHP 0.1 has none, so a client of 0.1 that sends one has changed
 * its version and is refused. Later versions require it, but the host accepts params without it, because some clients leave it
 * out.
 */
export async function reconnect(
  core: Core,
  link: OpeningLink,
  { clientId, lastSeenServerSeq: lastSeen, subscriptions }: Params<'reconnect'>,
  named = true,
): Promise<string> {
  if (new Set(subscriptions).size > core.limits.subscriptions) throw tooManySubscriptions(core)
  const known = await claimClient(core, link, clientId)
  if (!known || known.forgotten)
    throw AhpError.notFound('this host does not know the client id: initialize instead')
  const { nested } = generationOf(known.version)
  if (nested ? named : subscriptions.includes(firstRootUri))
    throw AhpError.invalidParams(
      `reconnect: this client speaks AHP ${known.version}; initialize to change that`,
    )
  // The envelopes of a replay contain names of channels, and these names depend on the version. So the version and the client's
  // names must be known first.
  link.dialect.useVersion(known.version, clientId)
  if (known.naming) link.dialect.names.restore(known.naming)
  const requested = requestedChannels(core, link, subscriptions)
  setAliases(link, requested)
  const { held, damaged } = await holdAll(core, link, requested)
  const note = storeNote(
    damaged,
    wasLost(core.about.earlierEpochs, lastSeen) || isUnknown(core, lastSeen, known.run),
  )
  const meta = Object.keys(note).length > 0 ? `,"_meta":${JSON.stringify({ 'x-atrium': note })}` : ''
  const seen = wasAssigned(core, lastSeen, known.run)
  const own = await dispatchesOf(core, clientId, seen ? lastSeen : undefined)
  // From 0.9 on a change is one action, so no client can have seen only a part of it.
  const partly = seen && link.dialect.generation.strict && (await sawPart(core, link, held, lastSeen))
  const upTo = core.log.committedSeq
  const sound = seen && !partly && replayable(known.handed, held, lastSeen)
  const replayed = sound
    ? await replayIfSound(core, link, known, { channels: held, after: lastSeen, upTo })
    : undefined
  const followed = new Set(held.map(({ uri }) => uri))
  const handed = new Map([...known.handed].filter(([uri]) => followed.has(uri)))
  const record = withNaming({ ...known, handed }, link.dialect.names.naming)
  if (!replayed) await loadSnapshotRows(core, held, record)
  for (let removal = removalIn(core, held); removal; removal = removalIn(core, held)) await removal
  link.open({
    record,
    resends: new Resends(core.parts.dispatchRules, own, link.dialect.generation.fills),
    seen: lastSeen,
  })
  // A replay must not contain a channel that was removed in the meantime: the client could make no sense of it.
  const whole = held.every((channel) => exists(core, channel) && !lacksRowSince(record, channel, upTo))
  const actions = whole ? replayed : undefined
  const channels = keepExisting(core, link, held, actions ? upTo : core.log.committedSeq)
  for (const channel of channels) link.subscriptions.restore(channel)
  link.outbox.latency = link.subscriptions.latency
  // A client whose `lastSeen` is not a valid sequence number may have missed any change of the session list.
  core.parts.clientReturned(link, seen ? lastSeen : 0)
  if (!actions) return `{"type":"snapshot","snapshots":[${snapshotsFor(core, link, channels).join()}]${meta}}`
  link.subscriptions.replayedFrom = lastSeen
  for (const { uri } of channels) requested.delete(uri)
  const missing = JSON.stringify([...requested.values()])
  return `{"type":"replay","actions":[${actions.join()}],"missing":${missing}${meta}}`
}

/**
 * Whether a client can have seen a sequence number that still counts: committed by this run of the host, or made durable by an
 * earlier one. `run` is the run in which the client was here last, so it can have seen no number of a later run.
 */
function wasAssigned(core: Core, seq: number, run = core.log.first): boolean {
  if (seq >= core.log.first - 1) return run === core.log.first && seq <= core.log.committedSeq
  const seenEpochs = core.about.earlierEpochs.filter(({ first }) => first <= run)
  return inEpoch(seenEpochs, seq)
}

/**
 * Whether a client has seen a number that only a run can have assigned of which the store knows nothing. Then the store is an
 * older copy, brought back without the newer `atrium.upto`. Says so once in the local log.
 */
function isUnknown(core: Core, seq: number, run = core.log.first): boolean {
  const { log, store, world } = core
  const isOfThisRun = run === log.first && seq >= log.first - 1 && seq <= log.last
  if (seq <= store.log.upTo || isOfThisRun) return false
  const detail = `a client has seen number ${seq}, of which this store knows nothing: it is an older copy`
  if (!reported.has(core)) world.report('history lost', detail)
  reported.add(core)
  return true
}

const reported = new WeakSet<Core>()

/**
 * Replays a range. Returns undefined if stored actions cannot be read, or if the client may be unable to apply them. The
 * client then gets snapshots.
 */
function replayIfSound(
  core: Core,
  { dialect }: OpeningLink,
  known: ClientRecord,
  range: ReplayRange,
): Promise<readonly string[] | undefined> {
  const encode: EnvelopeEncoder = (channel, parts) =>
    dialect.envelopes(channel, parts, parts.origin?.clientId === known.clientId)
  // A client that has only the newest turns may lack the turn that an action names.
  const lacksRow = ({ uri }: Channel, action: string) =>
    known.handed.get(uri)?.cut !== undefined && needsRow(storedAction(action))
  return replay(core.log, core.store.log, range, { encode, lacksRow }).catch((error: unknown) => {
    // The older form of an action may depend on the state before it, which is not stored.
    if (!(error instanceof ContextMissing)) core.world.report('replay failed', error)
    return undefined
  })
}

/** Whether the client has only the newest turns while an action above `upTo` may need an older turn. */
function lacksRowSince({ handed }: ClientRecord, channel: Channel, upTo: number): boolean {
  return handed.get(channel.uri)?.cut !== undefined && channel.lastRowNeeded > upTo
}
