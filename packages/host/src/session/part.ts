import { catalogOf } from '../core/catalog.ts'
import { whenCommitted, DeferredResponse } from '../kernel/deferred-response.ts'
import { part } from '../kernel/part.ts'
import { sessionGuards } from './guards.ts'
import { moveChat } from './move-chat.ts'
import { createSession, disposeSession, sessionEffects } from './session.ts'

/** Sessions: made, listed, and disposed of. */
export const session = part({
  name: 'session',
  rules: {
    methods: {
      listSessions: (core, _, { limit, cursor }) => catalogOf(core).page(limit, cursor),
      createSession: async (core, link, params) =>
        whenCommitted(core, await createSession(core, link, params)),
      disposeSession: async (core, _, params) => whenCommitted(core, await disposeSession(core, params)),
      moveChat: async (core, link, params) => {
        const moving = moveChat(core, link, params)
        const committed = async () => {
          const { seq, session: to } = await moving
          await core.log.reached(seq)
          return { session: to }
        }
        // An agent may need a long time to create a session, and the client's later requests must not wait so long.
        if (params.destination.kind !== 'newSession') await moving
        return new DeferredResponse(committed())
      },
    },
    guards: [sessionGuards],
    effects: [sessionEffects],
  },
})
