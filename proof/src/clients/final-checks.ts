import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { Simulation } from '../simulate/simulation.ts'
import { checkChanges } from '../simulate/changes/change-checks.ts'
import { checkHost, listedIn } from '../simulate/final-checks.ts'
import type { App } from './app.ts'

type Sim = Simulation<App>

/** Returns everything that is still under way, in words; empty at rest. */
export function pendingWork(sim: Sim): string {
  const { model, disk, changes } = sim
  const found = [
    !sim.up && 'the host is down',
    disk.waiting > 0 && 'the disk has pending requests',
    changes && changes.folder.waiting > 0 && 'the folder has pending work',
    sim.hostRun?.core?.log.diskFull && 'the host still treats the disk as full',
    ...sim.clients
      .filter(({ closed }) => !closed)
      .flatMap((app) => [
        !(app.open && app.wire?.healthy) && `${app.id} has no link`,
        (app.link?.waiting ?? 0) > 0 && `${app.id} has frames under way`,
        app.waiting > 0 && `${app.id} waits for an answer`,
        app.client.pending.some(({ channel }) => model.live(channel)) &&
          `${app.id} waits for the outcome of its actions`,
        [...app.handles].some(({ status }) => status === 'opening' || status === 'stale') &&
          `${app.id} waits for a state`,
      ]),
  ]
  return found.filter((text) => typeof text === 'string').join(', ')
}

/**
 * Checks the rules I4, I5, U3 and U6 for every client, and the host, when nothing is under way any more.
 * `reconnected`: every client has a new link, so it must know which channels are gone.
 */
export function checkAtRest(sim: Sim, reconnected = false): void {
  checkHost(sim)
  if (sim.changes) checkChanges(sim, sim.changes)
  for (const app of sim.clients) {
    app.ledger.check()
    if (app.closed) continue
    app.wire?.audit.complete()
    for (const handle of app.handles) {
      if (sim.model.live(handle.uri) && handle.status !== 'gone')
        app.handleChecks.checkAtRest(handle, app.clientView.expected(handle.uri, Infinity))
      else if (
        reconnected &&
        isAnnounced(sim, handle.uri) &&
        !sim.model.live(handle.uri) &&
        handle.status !== 'gone'
      )
        sim.fail('U3', `${app.id} has an open handle on ${handle.uri}, which is gone`)
    }
    checkPending(sim, app, reconnected)
    checkSubscriptions(sim, app, reconnected)
    checkList(sim, app)
  }
}

/**
 * Whether the host announces the end of a channel. An unused session ends when its creator leaves, without an
 * announcement: only a client that guessed its URI can be subscribed to it.
 */
function isAnnounced(sim: Sim, uri: Uri): boolean {
  if (!/^ahp-(?:session|chat):/.test(uri)) return true
  return sim.invariants.usedSessions.has(sim.invariants.sessionOf(uri) ?? uri)
}

/** Checks U1, U3, I10: a closed client has no pending action, no timer and no waiting request. */
export function checkClosed(sim: Sim): void {
  for (const { id, client, ledger, timers, waiting } of sim.clients) {
    if (client.pending.length > 0 || ledger.open.length > 0)
      sim.fail('U1', `${id} is closed without an outcome of ${ledger.open.join()}`)
    if (timers > 0) sim.fail('I10', `${id} is closed, but ${timers} of its timers are still set`)
    if (waiting > 0) sim.fail('U3', `${id} is closed, but ${waiting} requests still wait`)
  }
}

/**
 * Checks I4: an action is pending only if its channel is gone, because the host does not answer such an action. A
 * client that has reconnected knows which of its subscribed channels are gone, so it has no pending action on them
 * either.
 */
function checkPending(sim: Sim, app: App, reconnected: boolean): void {
  const followed = new Set([...app.handles].map(({ uri }) => uri))
  const owed = app.client.pending.find(
    ({ channel }) => sim.model.live(channel) ?? (reconnected && followed.has(channel)),
  )
  if (owed) sim.fail('I4', `${app.id} still waits for ${owed.clientSeq} ${owed.action.type}`)
}

/** Checks U3: the host delivers the channels that have a handle, and no others. */
function checkSubscriptions(sim: Sim, app: App, reconnected: boolean): void {
  const handles = [...app.handles].filter(({ status }) => status !== 'gone').map(({ uri }) => uri)
  const wanted = new Set<Uri>([...handles, ...(app.list ? [rootUri] : [])])
  const delivered = [...(app.wire?.subscriptions.keys() ?? [])].filter(
    (uri) => reconnected || sim.model.live(uri),
  )
  const expected = [...wanted].filter((uri) => reconnected || sim.model.live(uri))
  if (delivered.toSorted().join() !== expected.toSorted().join())
    sim.fail('U3', `${app.id} is subscribed to ${delivered.join()}, but has handles on ${expected.join()}`)
}

/** Checks U6: the session list agrees with the host's. */
function checkList(sim: Sim, { id, list, clientView }: App): void {
  if (!list) return
  const items = listedIn(sim)
  const uris = (all: readonly { readonly resource: Uri }[]) => all.map(({ resource }) => resource).toSorted()
  if (!equal(uris(list.items), uris(items)))
    sim.fail('U6', `${id} lists ${uris(list.items).join()}, but the host lists ${uris(items).join()}`)
  for (const item of clientView.version === '1.0.0' ? items : []) {
    const own = list.items.find(({ resource }) => resource === item.resource)
    // An absent activity may be delivered as an empty one.
    if (own && !equal({ activity: '', ...own }, { activity: '', ...item }))
      sim.fail('U6', `${id} lists ${item.resource} as ${JSON.stringify(own)}, not ${JSON.stringify(item)}`)
  }
}
