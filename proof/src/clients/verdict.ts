import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { Simulation } from '../simulate/simulation.ts'
import { judgeHost } from '../simulate/verdict.ts'
import type { App } from './app.ts'

type Sim = Simulation<App>

/** What still goes on, in words; nothing where everything is at rest. */
export function unrest(sim: Sim): string {
  const { truth, disk } = sim
  const found = [
    !sim.up && 'the host is down',
    disk.waiting > 0 && 'the disk works',
    sim.life?.core?.log.diskFull && 'the host believes that there is no space',
    ...sim.clients
      .filter(({ closed }) => !closed)
      .flatMap((app) => [
        !(app.open && app.wire?.sound) && `${app.id} has no link`,
        (app.link?.waiting ?? 0) > 0 && `${app.id} has frames under way`,
        app.waiting > 0 && `${app.id} waits for an answer`,
        app.client.pending.some(({ channel }) => truth.living(channel)) && `${app.id} waits for its wishes`,
        [...app.handles].some(({ status }) => status === 'opening' || status === 'stale') &&
          `${app.id} waits for a state`,
      ]),
  ]
  return found.filter((text) => typeof text === 'string').join(', ')
}

/** I4, I5, U3, U6, and that the host is well. After a new link `anew` nobody believes in what is gone. */
export function judgeAtRest(sim: Sim, anew = false): void {
  judgeHost(sim)
  for (const app of sim.clients) {
    app.account.judge()
    if (app.closed) continue
    app.wire?.audit.complete()
    for (const handle of app.handles) {
      if (sim.truth.living(handle.uri) && handle.status !== 'gone')
        app.sights.judge(handle, sim.truth.stateAt(handle.uri, Infinity))
      else if (
        anew &&
        isAnnounced(sim, handle.uri) &&
        !sim.truth.living(handle.uri) &&
        handle.status !== 'gone'
      )
        sim.fail('U3', `${app.id} believes in ${handle.uri}, which is gone`)
    }
    judgePending(sim, app, anew)
    judgeFollowing(sim, app, anew)
    judgeList(sim, app)
  }
}

/** Of a session that nobody used, and that went with its maker, nobody is told: who follows one has guessed its name. */
function isAnnounced(sim: Sim, uri: Uri): boolean {
  if (!/^ahp-(?:session|chat):/.test(uri)) return true
  return sim.laws.uses.has(sim.laws.sessionOf(uri) ?? uri)
}

/** A client that was closed has nothing left to do, and nothing that it owes. */
export function judgeClosed(sim: Sim): void {
  for (const { id, client, account, timers, waiting } of sim.clients) {
    if (client.pending.length > 0 || account.open.length > 0)
      sim.fail('U1', `${id} is closed, and has not said what became of ${account.open.join()}`)
    if (timers > 0) sim.fail('I10', `${id} is closed, and ${timers} of its timers are not`)
    if (waiting > 0) sim.fail('U3', `${id} is closed, and ${waiting} still wait for it`)
  }
}

/** Only what nobody has can wait: a host says nothing of that, and who follows it learns it with the next link. */
function judgePending(sim: Sim, app: App, anew: boolean): void {
  const followed = new Set([...app.handles].map(({ uri }) => uri))
  const owed = app.client.pending.find(
    ({ channel }) => sim.truth.living(channel) ?? (anew && followed.has(channel)),
  )
  if (owed) sim.fail('I4', `${app.id} still waits for ${owed.clientSeq} ${owed.action.type}`)
}

/** U3: the host tells it what somebody has a handle on, and nothing else. */
function judgeFollowing(sim: Sim, app: App, anew: boolean): void {
  const handles = [...app.handles].filter(({ status }) => status !== 'gone').map(({ uri }) => uri)
  const wanted = new Set<Uri>([...handles, ...(app.list ? [rootUri] : [])])
  const told = [...(app.wire?.follows.keys() ?? [])].filter((uri) => anew || sim.truth.living(uri))
  const expected = [...wanted].filter((uri) => anew || sim.truth.living(uri))
  if (told.toSorted().join() !== expected.toSorted().join())
    sim.fail('U3', `${app.id} is told of ${told.join()}, and has handles on ${expected.join()}`)
}

/** U6. */
function judgeList(sim: Sim, { id, list, eye }: App): void {
  if (!list) return
  const items = sim.life?.core?.catalog.page().items ?? []
  const uris = (all: readonly { readonly resource: Uri }[]) => all.map(({ resource }) => resource).toSorted()
  if (!equal(uris(list.items), uris(items)))
    sim.fail('U6', `${id} lists ${uris(list.items).join()}, and there are ${uris(items).join()}`)
  for (const item of eye.version === '1.0.0' ? items : []) {
    const own = list.items.find(({ resource }) => resource === item.resource)
    // No activity may be told as an empty one.
    if (own && !equal({ activity: '', ...own }, { activity: '', ...item }))
      sim.fail(
        'U6',
        `${id} lists another ${item.resource}: ${JSON.stringify(own)}, not ${JSON.stringify(item)}`,
      )
  }
}
