import { conversationRules } from './conversation.ts'
import type { Traits } from './traits.ts'
import { onSession } from './summary.ts'
import { absent, named } from './table.ts'
import type { VersionRules } from './table.ts'
import { v04 } from './v0-4.ts'
import { traits050 } from './v0-5-0.ts'

/**
 * At 0.3 a session is also its only conversation. Its times are numbers. Only the start of a call sets the `_meta` of
 * the call.
 */
export const traits03: Traits = { ...traits050, replacesMeta: false, time: (now) => now }

export const v03: VersionRules = {
  ...v04,
  session: {
    ...v04.session,
    ...absent(
      'session/chatAdded',
      'session/chatRemoved',
      'session/chatUpdated',
      'session/defaultChatChanged',
    ),
    ...named('session', onSession(conversationRules(traits03))),
  },
  chat: undefined,
  changeset: { ...v04.changeset, ...absent('changeset/contentChanged') },
  annotations: undefined,
}
