import { rootUri } from '@atrium/protocol/uri'
import { opsOfAll, viewOf } from '../simulate/ops-of-all.ts'
import type { Does } from '../simulate/ops-of-all.ts'
import type { OpName } from '../simulate/plan.ts'
import type { Simulation } from '../simulate/simulation.ts'
import type { Chance } from '../chance.ts'
import type { App } from './app.ts'
import { hostileWish, malformedWish } from './hostile.ts'

/** What each op does where clients are real: they come back by themselves, and are asked for things at any moment. */
export const ops: { readonly [N in OpName]: Does<Simulation<App>> } = {
  ...opsOfAll,
  tick: (sim, chance) => {
    if (chance.oneIn(8)) sim.clock.wall -= 3_600_000 * chance.below(3)
    sim.tasks.push(...sim.clock.due(chance.pick([1, 20, 300, 300, 1000, 5000, 20_000, 61_000]) ?? 0))
  },
  open(sim, chance) {
    // Who waits for a host to answer may lose patience.
    const greeting = chance.pick(sim.clients.filter(({ open, wire }) => !open && wire?.sound))
    if (greeting && chance.oneIn(2)) return leave(sim, greeting, chance)
    // Somebody clicks, or the time has come.
    const app = chance.pick(sim.clients)
    if (chance.oneIn(2)) app?.attempt(() => app.client.connect())
    else sim.tasks.push(...sim.clock.due(400))
  },
  cut(sim, chance) {
    const { link } = chance.pick(sim.clients) ?? {}
    if (!link) return
    // Either side may be the only one to know, for long.
    const who = chance.below(3)
    if (who < 2) link.endClient()
    if (who > 0) link.endHost()
    else sim.late.add(link)
  },
  dispatch(sim, chance) {
    if (!chance.oneIn(8)) return opsOfAll.dispatch(sim, chance)
    const app = chance.pick(sim.clients)
    app?.dispatch(chance.pick(sim.living()) ?? rootUri, hostileWish(String(sim.name()), chance))
  },
  subscribe(sim, chance) {
    const app = chance.pick(sim.clients)
    const uri = chance.pick([...sim.living(), ...sim.laws.unborn()])
    if (uri === undefined) return
    // Some speak before they look, and badly.
    if (chance.oneIn(2)) app?.dispatch(uri, malformedWish(uri))
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
    const handle = chance.pick([...(app?.handles ?? [])].filter(({ uri }) => app?.eye.narrow.has(uri)))
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
