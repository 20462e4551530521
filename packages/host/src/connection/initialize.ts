import type { Params } from '@atrium/protocol/commands'
import { negotiate } from '@atrium/protocol/versions/negotiate'
import { infoOf, withNaming } from '../kernel/clients.ts'
import type { ClientRecord } from '../kernel/clients.ts'
import type { Core } from '../kernel/core.ts'
import { supportedVersions } from '../kernel/generation.ts'
import {
  claimClient,
  dispatchesOf,
  holdAll,
  keepExisting,
  loadSnapshotRows,
  removalIn,
  requestedChannels,
  setAliases,
  snapshotsFor,
  storeNote,
} from './opening.ts'
import type { OpeningLink } from './opening.ts'
import { offeredExtensions } from './extensions.ts'
import { Resends } from './resends.ts'

/** Runs `initialize`. Returns the result as JSON: the description of the host, and snapshots of the requested channels. */
export async function initialize(
  core: Core,
  link: OpeningLink,
  params: Params<'initialize'>,
): Promise<string> {
  const { clientId, clientInfo, initialSubscriptions = [] } = params
  const { offered, version } = negotiate(params.protocolVersions, supportedVersions)
  const { names } = link.dialect
  link.dialect.useVersion(version, clientId)
  const { usesAliases = false } = core.clients.habits(clientInfo?.name)
  // In 0.1 sessions have no other names.
  names.restore({ aliases: usesAliases || link.dialect.generation.nested, except: [] })
  const requested = requestedChannels(core, link, initialSubscriptions)
  const known = await claimClient(core, link, clientId)
  const own = known ? await dispatchesOf(core, clientId) : []
  if (known && known.handed.size > 0) await forgetSnapshots(core, known)
  const { held, damaged } = await holdAll(core, link, requested)
  const info = clientInfo && { info: infoOf(clientInfo) }
  const device = link.device && { device: link.device.id }
  const base = { clientId, principal: link.principal, ...device, version, handed: new Map(), ...info }
  const record = withNaming(base, names.naming)
  const seen = known ? core.log.committedSeq : 0
  await loadSnapshotRows(core, held, record)
  for (let removal = removalIn(core, held); removal; removal = removalIn(core, held)) await removal
  link.open({
    record,
    resends: new Resends(core.parts.dispatchRules, own, link.dialect.generation.fills),
    seen,
  })
  setAliases(link, requested)
  const channels = keepExisting(core, link, held, core.log.committedSeq)
  const snapshots = snapshotsFor(core, link, channels)
  const fixed = link.dialect.result('initialize', {
    protocolVersion: offered,
    serverSeq: core.log.committedSeq,
    serverInfo: core.about.info,
    _meta: {
      'x-atrium': {
        resends: true,
        ...(link.device && { device: link.device }),
        ...offeredExtensions(core, link),
        ...storeNote(damaged, core.store.log.lost !== undefined),
        ...(wantsClients(params) && {
          clients: core.clients.present(link.principal),
          ...core.parts.reports(),
        }),
      },
    },
    ...(core.about.defaultDirectory !== undefined && { defaultDirectory: core.about.defaultDirectory }),
    ...core.parts.offers(),
  })
  return `${JSON.stringify(fixed).slice(0, -1)},"snapshots":[${snapshots.join()}]}`
}

/**
 * Forgets which snapshots a client was sent, because a client that initializes again has no state. The changed record must be
 * durable before the handshake goes on. Otherwise the host would believe after a crash that the client still has the
 * snapshots.
 */
async function forgetSnapshots(core: Core, known: ClientRecord): Promise<void> {
  core.clients.keep({ ...known, handed: new Map() })
  await core.log.settled()
}

/** Whether the client asks for the list of connected clients. The list is optional, because it can be long. */
function wantsClients({ _meta }: Params<'initialize'>): boolean {
  // A client may send anything in `_meta`. The cast is safe, because the one member that is read is only compared with `true`.
  const own = _meta?.['x-atrium'] as { readonly clients?: unknown } | undefined
  return own?.clients === true
}
