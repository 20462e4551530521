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

/** How a link begins: who it is, what it follows, what it may send again, and what it is told first. */
export interface Welcome {
  readonly record: ClientRecord
  readonly resends: Resends
  readonly channels: readonly Channel[]
  readonly missing: readonly Uri[]
}

export async function initialize(
  core: Core,
  principal: string,
  params: Params<'initialize'>,
): Promise<Welcome & { offered: string }> {
  const { offered, version } = negotiate(params.protocolVersions, spoken)
  const known = await takeOver(core, params.clientId, principal)
  const own = known ? await ownSince(core, params.clientId, known.since) : []
  const { channels, missing } = await wakeAll(core, params.initialSubscriptions ?? [])
  const record = {
    clientId: params.clientId,
    principal,
    version,
    since: core.log.told,
    handed: new Map<Uri, number>(),
  }
  return { offered, record, resends: new Resends(own), channels, missing }
}

/** A client comes back: the envelopes it missed when they are all there, else nothing, and it gets snapshots. */
export async function reconnect(
  core: Core,
  principal: string,
  { clientId, lastSeenServerSeq: lastSeen, subscriptions }: Params<'reconnect'>,
  began: (channels: readonly Channel[]) => number,
): Promise<Welcome & { actions: readonly string[] | undefined }> {
  const known = await takeOver(core, clientId, principal)
  if (!known) throw AhpError.notFound('this host does not know the client id: initialize instead')
  const { channels, missing } = await wakeAll(core, subscriptions)
  const seen = lastSeen >= core.log.first - 1 ? lastSeen <= core.log.told : inLife(core.past, lastSeen)
  const own = await ownSince(core, clientId, seen ? lastSeen : known.since)
  const whole = seen && replayable(known.handed, channels, lastSeen)
  // From `began` on everything told is held back for this link, so nothing falls between the replay and what follows.
  const upTo = began(channels)
  const actions = whole ? await replay(core.log, core.store.log, channels, lastSeen, upTo) : undefined
  const record = { ...known, since: core.log.told }
  return {
    record,
    resends: new Resends(own, actions && channels.map(({ uri }) => uri)),
    channels,
    missing,
    actions,
  }
}

/** The newest link of a client is the one that counts. What the older had read and not dispatched is dropped. */
async function takeOver(core: Core, clientId: string, principal: string): Promise<ClientRecord | undefined> {
  const known = await core.clients.find(clientId, principal)
  core.links.get(clientId)?.close(1001, 'this client has opened another link')
  return known
}

/** What a client dispatched since; the disk must have caught up with it before it is asked. */
async function ownSince(core: Core, clientId: string, after: number): Promise<readonly StoredEnvelope[]> {
  await core.log.settled()
  return core.store.log.own(clientId, after)
}

async function wakeAll(
  core: Core,
  uris: readonly Uri[],
): Promise<{ channels: readonly Channel[]; missing: readonly Uri[] }> {
  const channels: Channel[] = []
  const missing: Uri[] = []
  for (const uri of new Set(uris)) {
    const channel = await wakeIfSound(core, uri)
    if (channel) channels.push(channel)
    else missing.push(uri)
  }
  return { channels, missing }
}
