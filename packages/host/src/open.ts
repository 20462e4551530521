import type { Action } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import { followUps } from './dispatch/follow-ups.ts'
import { BrowserSignIns } from './auth/browser-sign-ins.ts'
import { notifyExpired } from './auth/notices.ts'
import { diskFull, notifySpace } from './core/space.ts'
import { SessionResources } from './core/session-resources.ts'
import { CheckedRecords } from './records/checked-records.ts'
import { StepRecords } from './log/step-records.ts'
import { SessionFeed } from './core/session-feed.ts'
import { ListChanges } from './core/session-list/list-changes.ts'
import { Aliases } from './aliases/aliases.ts'
import { settleAliases } from './channels/names.ts'
import { Catalog } from './core/catalog.ts'
import { Changes } from './changes/changes.ts'
import type { Channel } from './log/channel.ts'
import { Clients, habitsOf } from './core/clients.ts'
import { Customizations } from './customizations/customizations.ts'
import type { Core } from './core/core.ts'
import { effect } from './dispatch/dispatch.ts'
import type { Entry } from './log/entry.ts'
import { Departures } from './core/departures.ts'
import { Devices } from './core/devices/devices.ts'
import { ContentRetention } from './core/content-retention.ts'
import { ClientUriOwners } from './core/client-uri-owners.ts'
import { FileListings } from './core/file-listing.ts'
import { beginEpoch } from './log/epochs.ts'
import { numbersAhead } from './log/group-commit.ts'
import { Log } from './log/log.ts'
import type { Dispatcher } from './log/options.ts'
import { Sealing } from './sealing/sealing.ts'
import { openNotifications } from './notifications/notifications.ts'
import { openSearch } from './search/search.ts'
import { CallCount } from './history/call-count.ts'
import { ChannelHistories } from './history/history.ts'
import { Owners } from './core/owners.ts'
import { RecordMap, textFormat } from './core/record-map.ts'
import { ReadBudget } from './core/read-budget.ts'
import { readOnly } from './log/read-only-store.ts'
import { openRoot } from './root/root.ts'
import { tidyDaily } from './channels/tidy.ts'
import { rootUri } from '@atrium/protocol/uri'
import { clientAbsent, clientDeparted } from './session/departed-clients.ts'
import { Tokens } from './core/tokens.ts'
import type { HostPorts } from './host-ports.ts'
import { recover } from './recovery.ts'
import { Jobs } from './core/jobs.ts'
import { Machines } from './core/node/machines.ts'
import { Metrics } from './core/node/metrics.ts'

export type { HostPorts }

/**
 * Begins one run of the host on a store (an epoch): loads the sequence numbers, the session list and the root
 * channel, and recovers unfinished work.
 */
export async function openCore(ports: HostPorts): Promise<Core> {
  const {
    world,
    agents = [],
    info = { name: 'atrium' },
    build,
    defaultDirectory,
    headEvery,
    tail,
    habits = habitsOf,
    fatal,
  } = ports
  const store = ports.readOnly === undefined ? ports.store : readOnly(ports.store)
  const checked = new CheckedRecords(store.records, ports.place ?? 'memory', (sentence) =>
    world.report('damaged record', sentence),
  )
  await checked.restoreKeys()
  const { first, earlierEpochs } = await beginEpoch(checked, store.log, world.now())
  if (store.log.lost !== undefined)
    world.report('history lost', `numbers above ${store.log.upTo - numbersAhead}, up to ${store.log.lost}`)
  const metrics = new Metrics(world)
  const events = {
    appended: (channel: Channel, action: Action, by?: Dispatcher) => {
      if (by) metrics.dispatched(log.last)
      followUps(core, channel, action, by)
    },
    committed: (channel: Channel, entry: Entry) => {
      metrics.committed(entry)
      core.sealing.committed(channel)
      core.search?.committed(channel, entry.action)
      effect(core, channel, entry)
      // Notifications come after the effect: they are made from the session list, which the effect updates.
      core.notifications?.committed(channel, entry.action)
    },
    fullChanged: (full: boolean) => {
      for (const link of core.links.values()) notifySpace(core, link, full)
    },
    fatal: (error: unknown) => {
      world.report('store failed', error)
      fatal?.(error)
    },
  }
  const limitValues = { ...limits, ...ports.limits }
  const records = new StepRecords(checked)
  const log = new Log(store.log, world, events, {
    records,
    first,
    ...(headEvery !== undefined && { headEvery }),
    ...(tail !== undefined && { tail }),
    recentLength: limitValues.recentLength,
  })
  const clients = new Clients(records, log, world)
  const listChanges = await ListChanges.open(records, limitValues.removals)
  const catalog = await Catalog.open(records, listChanges, { store: store.log, first })
  const aliases = await Aliases.open(records, catalog)
  const machines = await Machines.open(records, catalog, ports.machine)
  for (const [session, { alias }] of listChanges.removals)
    if (alias !== undefined) aliases.rememberDisposed(session, alias)
  const sessionFeed = new SessionFeed(log, world, catalog, listChanges)
  const jobs = await Jobs.open(records)
  const sealing = new Sealing({ store: store.log, log, jobs, world, least: ports.sealLeast })
  const sessionResources = await SessionResources.open(records)
  const owners = await Owners.open(records)
  const devices = await Devices.open(records, world, log, limitValues)
  const worktreeIds = await RecordMap.open(records, 'worktree/', textFormat)
  const contentRetention = await ContentRetention.open(records)
  const isFullFor = (clientId?: string) =>
    log.diskFull && (clientId === undefined || !log.mayWaitForSpace(clientId))
  const readOnlyReason = (clientId?: string) =>
    ports.readOnly ?? (isFullFor(clientId) ? diskFull : ports.refusal?.())
  const fixed = {
    limits: limitValues,
    earlierEpochs,
    agents,
    habits,
    info,
    build,
    defaultDirectory,
    readOnlyReason,
  }
  const clientUriOwners = new ClientUriOwners(limitValues.borrowed)
  const tokens = new Tokens(world, limitValues, (...given) => notifyExpired(core, ...given))
  const { files, terminals, vcs, commits, worktrees, encoder, hooks, mcp } = ports
  const listings = new FileListings({ files, vcs }, world, limitValues)
  const machine = {
    files,
    terminals,
    vcs,
    commits,
    worktrees,
    encoder,
    hooks,
    mcp,
    listings,
    readBudget: new ReadBudget(world, limitValues),
  }
  const customizations =
    ports.customizations &&
    (await Customizations.open({ records, limits: limitValues }, ports.customizations, () => core))
  const changes =
    ports.captures &&
    (await Changes.open(
      { ...ports, captures: ports.captures },
      { records, world, limits: limitValues },
      () => core,
    ))
  const search =
    ports.search &&
    (await openSearch(
      ports.search,
      { store: store.log, log, catalog, limits: limitValues, listChanges, records, world, earlierEpochs },
      ports.readOnly !== undefined,
    ))
  const notifications =
    ports.notifier && ports.readOnly === undefined
      ? await openNotifications(ports.notifier, {
          records,
          world,
          log,
          limits: limitValues,
          catalog,
          devices,
          links: () => core.links.values(),
          readOnlyReason,
        })
      : undefined
  const ended = (removal: Promise<void>) =>
    removal.catch((error: unknown) => world.report('removing a departed client failed', error))
  // Departures (clients that have left and may come back) are loaded last, because the load starts their timers. When
  // a timer ends, its function uses `core`, which is made right after this.
  const departures = await Departures.open(records, world, [
    {
      ms: limitValues.toolGraceMs,
      over: (clientId) => ended(clientAbsent(core, clientId)),
      back: (clientId) => core.customizations?.clientReturned(clientId),
    },
    { ms: limitValues.graceMs, over: (clientId) => ended(clientDeparted(core, clientId)) },
  ])
  const parts = {
    store,
    changes,
    search,
    past: new ChannelHistories(() => core, new CallCount(limitValues)),
    notifications,
    customizations,
    records,
    world,
    log,
    clients,
    catalog,
    aliases,
    machines,
    metrics,
    sessionFeed,
    listChanges,
    jobs,
    sealing,
    departures,
    sessionResources,
    contentRetention,
    clientUriOwners,
    owners,
    devices,
    worktreeIds,
    tokens,
    signIns: ports.authorizer && new BrowserSignIns(ports.authorizer, () => core),
    ...machine,
  }
  const core: Core = { ...parts, ...fixed, links: new Map() }
  await log.begin()
  if (ports.readOnly === undefined) {
    // Neither a client nor an agent may see one half of a group of edits, so this comes before turns are resumed.
    await changes?.finishEdits()
    await settleAliases(core)
  }
  await openRoot(core)
  await recover(core)
  await log.settled()
  if (ports.readOnly === undefined) {
    customizations?.reread()
    changes?.recover()
    sealing.start(() => [rootUri, ...catalog.channels])
    tidyDaily(core)
  }
  return core
}
