import type { Action } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import { followUps } from './dispatch/follow-ups.ts'
import { diskFull, notifySpace } from './core/space.ts'
import { SessionResources } from './core/session-resources.ts'
import { CheckedRecords } from './records/checked-records.ts'
import { StepRecords } from './log/step-records.ts'
import { SessionFeed } from './core/session-feed.ts'
import { ListChanges } from './core/session-list/list-changes.ts'
import { Aliases } from './aliases/aliases.ts'
import { settleAliases } from './channels/names.ts'
import { Catalog } from './core/catalog.ts'
import type { Channel } from './log/channel.ts'
import { Clients, habitsOf } from './core/clients.ts'
import type { Core } from './core/core.ts'
import { effect } from './dispatch/dispatch.ts'
import type { Entry } from './log/entry.ts'
import { ContentRetention } from './core/content-retention.ts'
import { ClientUriOwners } from './core/client-uri-owners.ts'
import { beginEpoch } from './log/epochs.ts'
import { numbersAhead } from './log/group-commit.ts'
import { Log } from './log/log.ts'
import type { Dispatcher } from './log/options.ts'
import { Sealing } from './sealing/sealing.ts'
import { Owners } from './core/owners.ts'
import { RecordMap, textFormat } from './core/record-map.ts'
import { ReadBudget } from './core/read-budget.ts'
import { readOnly } from './log/read-only-store.ts'
import { openRoot } from './root/root.ts'
import { tidyDaily } from './channels/tidy.ts'
import { rootUri } from '@atrium/protocol/uri'
import type { HostPorts } from './host-ports.ts'
import { PartList } from './core/part.ts'
import { parts } from './parts.ts'
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
  const open = new PartList()
  const events = {
    appended: (channel: Channel, action: Action, by?: Dispatcher) => {
      if (by) metrics.dispatched(log.last)
      followUps(core, channel, action, by)
    },
    committed: (channel: Channel, entry: Entry) => {
      metrics.committed(entry)
      core.sealing.committed(channel)
      effect(core, channel, entry)
      // The parts come after the effect: notifications are made from the session list, which the effect updates.
      open.committed(channel, entry.action)
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
  const { files, terminals, vcs, commits, worktrees, encoder, hooks } = ports
  const machine = {
    files,
    terminals,
    vcs,
    commits,
    worktrees,
    encoder,
    hooks,
    readBudget: new ReadBudget(world, limitValues),
  }
  const core: Core = {
    store,
    records,
    world,
    log,
    parts: open,
    clients,
    catalog,
    aliases,
    machines,
    metrics,
    sessionFeed,
    listChanges,
    jobs,
    sealing,
    sessionResources,
    contentRetention,
    clientUriOwners,
    owners,
    worktreeIds,
    ...machine,
    ...fixed,
    links: new Map(),
  }
  await open.open(parts, core, ports)
  await log.begin()
  if (ports.readOnly === undefined) {
    await open.recover()
    await settleAliases(core)
  }
  await openRoot(core)
  await recover(core)
  await log.settled()
  if (ports.readOnly === undefined) {
    open.started()
    sealing.start(() => [rootUri, ...catalog.channels])
    tidyDaily(core)
  }
  return core
}
