import { catalogOf } from './catalog/catalog.ts'
import type { Action } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import { diskFull, notifySpace } from './kernel/space.ts'
import { CheckedRecords } from './kernel/records/checked-records.ts'
import { StepRecords } from './kernel/log/step-records.ts'
import { settleAliases } from './channels/names.ts'
import type { Channel } from './kernel/log/channel.ts'
import { Clients } from './kernel/clients.ts'
import type { Core } from './kernel/core.ts'
import type { Entry } from './kernel/log/entry.ts'
import { beginEpoch } from './kernel/log/epochs.ts'
import { numbersAhead } from './kernel/log/group-commit.ts'
import { Log } from './kernel/log/log.ts'
import type { Dispatcher } from './kernel/log/options.ts'
import { Sealing } from './kernel/sealing/sealing.ts'
import { readOnly } from './kernel/log/read-only-store.ts'
import { openRoot } from './parts/root/root.ts'
import { tidyDaily } from './parts/retention/tidy.ts'
import { rootUri } from '@atrium/protocol/uri'
import type { HostPorts } from './host-ports.ts'
import { PartList } from './kernel/part-list.ts'
import { parts } from './parts.ts'
import { recover } from './parts/session/recovery.ts'
import { Jobs } from './kernel/jobs.ts'
import { Metrics } from './kernel/metrics.ts'

export type { HostPorts }

/**
 * Begins one run of the host on a store (an epoch): loads the sequence numbers, the session list and the root
 * channel, and recovers unfinished work.
 */
export async function openCore(ports: HostPorts): Promise<Core> {
  const { world, info = { name: 'atrium' }, build, defaultDirectory, headEvery, tail, habits, fatal } = ports
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
      open.appended(channel, action, by)
    },
    committed: (channel: Channel, entry: Entry) => {
      metrics.committed(entry)
      core.sealing.committed(channel)
      if (!core.jobs.stopping) open.effect(channel, entry)
      // The parts come after the effect: notifications are made from the session list, which the effect updates.
      open.committed(channel, entry.action)
    },
    fullChanged: (full: boolean) => {
      for (const link of core.clients.links.values()) notifySpace(core, link, full)
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
  const jobs = await Jobs.open(records)
  const isFullFor = (clientId?: string) =>
    log.diskFull && (clientId === undefined || !log.mayWaitForSpace(clientId))
  const core: Core = {
    store,
    records,
    world,
    limits: limitValues,
    log,
    parts: open,
    clients: new Clients(records, log, world, habits),
    jobs,
    sealing: new Sealing({ store: store.log, log, jobs, world, least: ports.sealLeast }),
    metrics,
    about: { info, build, defaultDirectory, earlierEpochs },
    readOnlyReason: (clientId) => ports.readOnly ?? (isFullFor(clientId) ? diskFull : ports.refusal?.()),
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
    core.sealing.start(() => [rootUri, ...catalogOf(core).channels])
    tidyDaily(core)
  }
  return core
}
