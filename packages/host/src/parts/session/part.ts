import { catalogOf } from '../../catalog/catalog.ts'
import { choicesOf } from '../../dialect/lift-context.ts'
import { whenCommitted, DeferredResponse } from '../../kernel/deferred-response.ts'
import { part } from '../../kernel/part.ts'
import { asleepForDefault } from './default-chat.ts'
import { sessionFollowUps } from './follow-ups.ts'
import { sessionGuards } from './guards.ts'
import { moveChat } from './move-chat.ts'
import { olderMethods } from './older-commands.ts'
import { isRename, isRenameOf, renameDetour } from './rename.ts'
import { isChoiceOf, isSelection, selectionDetour, selectionRoles, withDeferred } from './selection.ts'
import { createSession, disposeSession, sessionCommitted, sessionEffects } from './session.ts'

/** Sessions: made, listed, and disposed of. */
export const session = part({
  name: 'session',
  key: choicesOf,
  open: () => ({ applied: withDeferred }),
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
    needs: [asleepForDefault],
    resends: [(accepted, again) => isSelection(again) && isChoiceOf(accepted, again)],
    movedResends: [
      (accepted, again, channel) => isRename(channel, again) && isRenameOf(accepted, channel.uri, again),
    ],
    detours: [selectionDetour, renameDetour],
    roles: selectionRoles,
    older: olderMethods,
    effects: [sessionEffects],
    followUps: sessionFollowUps,
    committed: { session: sessionCommitted },
  },
})
