import type { Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { negotiate } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { Channel } from './channel.ts'
import type { ClientRecord } from './clients.ts'
import type { Core } from './core.ts'
import { inLife } from './lives.ts'
import type { StoredEnvelope } from './ports/log.ts'
import { replay, replayable } from './replay.ts'
import { Resends } from './resends.ts'
import { wakeIfSound } from './wake.ts'

/** The generations that this build can speak to a client. */
export const spoken: readonly Version[] = ['1.0.0']

/** After `initialize` only the newest of what a client had dispatched can be honest resends. */
const resendsAfterInitialize = 256

/** How a link begins: who it is, what it follows, and what it may send again. */
export interface Welcome {
  readonly record: ClientRecord
  readonly resends: Resends
  readonly channels: readonly Channel[]
  readonly missing: readonly Uri[]
}

/** What a link does while it is being opened. From `hold` on it hears the channel, and what it hears waits. */
export interface Opening {
  readonly principal: string
  hold(channel: Channel): void
}

export async function initialize(
  core: Core,
  opening: Opening,
  params: Params<'initialize'>,
): Promise<Welcome & { offered: string }> {
  const { offered, version } = negotiate(params.protocolVersions, spoken)
  const { clientId } = params
  const known = await takeOver(core, clientId, opening.principal)
  const since = known && Math.min(known.since, known.unsettled ?? Infinity)
  const own = since === undefined ? [] : await ownSince(core, clientId, since, resendsAfterInitialize)
  const { channels, missing } = await holdAll(core, opening, params.initialSubscriptions ?? [])
  const resends = new Resends(own)
  const { principal } = opening
  const { unsettled } = resends
  const record = { clientId, principal, version, since: core.log.told, unsettled, handed: new Map() }
  return { offered, record, resends, channels, missing }
}

/** A client comes back: the envelopes up to a number if they are all there, else nothing, and it gets snapshots. */
export async function reconnect(
  core: Core,
  opening: Opening,
  { clientId, lastSeenServerSeq: lastSeen, subscriptions }: Params<'reconnect'>,
): Promise<Welcome & { actions: readonly string[] | undefined; upTo: number }> {
  const known = await takeOver(core, clientId, opening.principal)
  if (!known) throw AhpError.notFound('this host does not know the client id: initialize instead')
  const held = await holdAll(core, opening, subscriptions)
  const seen = lastSeen >= core.log.first - 1 ? lastSeen <= core.log.told : inLife(core.past, lastSeen)
  const own = await ownSince(core, clientId, unheard(known, seen, lastSeen), Number.MAX_SAFE_INTEGER)
  const upTo = core.log.told
  const whole = seen && replayable(known.handed, held.channels, lastSeen)
  const actions = whole ? await replayIfSound(core, held.channels, lastSeen, upTo) : undefined
  // What was dropped while the disk was asked is gone for this client too.
  const there = (channel: Channel) => core.log.channel(channel.uri) === channel
  const channels = held.channels.filter(there)
  const gone = held.channels.filter((channel) => !there(channel)).map(({ uri }) => uri)
  const listed = new Set(channels.map(({ uri }) => uri))
  const handed = new Map([...known.handed].filter(([uri]) => listed.has(uri)))
  const resends = new Resends(own, actions && { channels: listed, after: lastSeen })
  const { unsettled } = resends
  const record = { ...known, since: core.log.told, unsettled, settledBy: undefined, handed }
  return { record, resends, channels, missing: [...held.missing, ...gone], actions, upTo }
}

/**
 * The number up to which a client has surely heard of what it dispatched. One that it has seen is not always enough: an
 * answer to an earlier return may have shown it that number, and its resends behind that answer were lost.
 */
function unheard(known: ClientRecord, seen: boolean, lastSeen: number): number {
  const settled = seen && lastSeen >= (known.settledBy ?? Infinity)
  return Math.min(seen ? lastSeen : known.since, settled ? Infinity : (known.unsettled ?? Infinity))
}

/** The newest link of a client is the one that counts. What the older had read and not dispatched is dropped. */
async function takeOver(core: Core, clientId: string, principal: string): Promise<ClientRecord | undefined> {
  const known = await core.clients.find(clientId, principal)
  core.links.get(clientId)?.close(1001, 'this client has opened another link')
  return known
}

/** What a client dispatched since, on the disk or on its way there. */
async function ownSince(
  core: Core,
  clientId: string,
  after: number,
  most: number,
): Promise<readonly StoredEnvelope[]> {
  const waiting = core.log.waitingOf(clientId)
  const stored = await core.store.log.own(clientId, after, most)
  const known = new Set(stored.map(({ seq }) => seq))
  return [...stored, ...waiting.filter(({ seq }) => seq > after && !known.has(seq))]
}

/** If unsure, snapshots: also where what is stored cannot be read. */
async function replayIfSound(core: Core, channels: readonly Channel[], after: number, upTo: number) {
  return replay(core.log, core.store.log, channels, after, upTo).catch((error: unknown) => {
    core.world.report('replay failed', error)
    return undefined
  })
}

async function holdAll(
  core: Core,
  opening: Opening,
  uris: readonly Uri[],
): Promise<{ channels: readonly Channel[]; missing: readonly Uri[] }> {
  const channels: Channel[] = []
  const missing: Uri[] = []
  for (const uri of new Set(uris)) {
    const channel = await wakeIfSound(core, uri)
    if (channel) {
      opening.hold(channel)
      channels.push(channel)
    } else missing.push(uri)
  }
  return { channels, missing }
}
