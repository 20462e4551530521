import { customizationsOf } from '../../catalog/customizing.ts'
import { Departures, departuresOf } from '../../catalog/departures.ts'
import { part } from '../../kernel/part.ts'
import { clientAbsent, clientDeparted } from './departed-clients.ts'

/**
 * The clients that have left and may come back. It is opened after the parts that its consequences use, because the timers of the
 * clients of an earlier run start at once.
 */
export const departures = part<Departures>({
  name: 'departures',
  key: departuresOf,
  open: (core) => {
    const ended = (removal: Promise<void>) =>
      removal.catch((error: unknown) => core.world.report('removing a departed client failed', error))
    return Departures.open(core.records, core.world, [
      {
        ms: core.limits.toolGraceMs,
        over: (clientId) => ended(clientAbsent(core, clientId)),
        back: (clientId) => customizationsOf(core)?.clientReturned(clientId),
      },
      { ms: core.limits.graceMs, over: (clientId) => ended(clientDeparted(core, clientId)) },
    ])
  },
  clientCame: (self, { clientId }) => self.returned(clientId),
  clientLeft: (self, { clientId }) => self.departed(clientId),
})
