import { rootUri } from '@atrium/protocol/uri'
import { sharedOps, viewOf } from '../simulate/ops/shared-ops.ts'
import type { OpFunction } from '../simulate/ops/shared-ops.ts'
import type { OpName } from '../simulate/plan.ts'
import type { Simulation } from '../simulate/simulation.ts'
import type { Chance } from '../chance.ts'
import type { App } from './app.ts'
import { hostileAction, malformedAction } from './hostile-actions.ts'

/**
 * The operations of a plan, for apps with the real client library. Its clients reconnect by themselves, and apps use
 * them at any moment.
 */
export const ops: { readonly [N in OpName]: OpFunction<Simulation<App>> } = {
  ...sharedOps,
  tick: (sim, chance) => {
    if (chance.oneIn(8)) sim.clock.wall -= 3_600_000 * chance.below(3)
    sim.tasks.push(...sim.clock.due(chance.pick([1, 20, 300, 300, 1000, 5000, 20_000, 61_000]) ?? 0))
  },
  open(sim, chance) {
    // An app may release a handle while the handshake is unanswered.
    const opening = chance.pick(sim.clients.filter(({ open, wire }) => !open && wire?.healthy))
    if (opening && chance.oneIn(2)) return leave(sim, opening, chance)
    // Either the user reconnects by hand, or time passes until the client reconnects.
    const app = chance.pick(sim.clients)
    if (chance.oneIn(2)) app?.attempt(() => app.client.connect())
    else sim.tasks.push(...sim.clock.due(400))
  },
  cut(sim, chance) {
    const { link } = chance.pick(sim.clients) ?? {}
    if (!link) return
    // One side may learn of the end of the link long before the other.
    const who = chance.below(3)
    if (who < 2) link.endClient()
    if (who > 0) link.endHost()
    else sim.halfOpen.add(link)
  },
  dispatch(sim, chance) {
    if (!chance.oneIn(8)) return sharedOps.dispatch(sim, chance)
    const app = chance.pick(sim.clients)
    app?.dispatch(chance.pick(sim.liveUris()) ?? rootUri, hostileAction(String(sim.name()), chance))
  },
  subscribe(sim, chance) {
    const app = chance.pick(sim.clients)
    const uri = chance.pick([...sim.liveUris(), ...sim.invariants.stagedChats()])
    if (uri === undefined) return
    // Half of the time, the app dispatches a malformed action before it subscribes.
    if (chance.oneIn(2)) app?.dispatch(uri, malformedAction(uri))
    app?.subscribe(uri, chance.oneIn(4) ? 20 : undefined, viewOf(sim, uri, chance))
    if (chance.oneIn(4)) app?.subscribe(uri)
  },
  unsubscribe(sim, chance) {
    const app = chance.pick(sim.clients)
    leave(sim, app, chance)
    if (chance.oneIn(40)) app?.close()
  },
  fetch(sim, chance) {
    const app = chance.pick(sim.clients)
    const handle = chance.pick(
      [...(app?.handles ?? [])].filter(({ uri }) => app?.clientView.windowed.has(uri)),
    )
    if (app?.open && handle) app.fetch(handle)
  },
}

function leave(sim: Simulation, app: App | undefined, chance: Chance): void {
  const handle = chance.pick([...(app?.handles ?? [])])
  if (!app || !handle) return
  const others = [...app.handles].filter(({ uri }) => uri === handle.uri && chance.oneIn(2))
  for (const each of new Set([handle, ...others])) app.release(each)
  if (chance.oneIn(3)) app.subscribe(handle.uri, undefined, viewOf(sim, handle.uri, chance))
}
