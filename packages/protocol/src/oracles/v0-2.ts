import { conversationRules } from './conversation.ts'
import type { Traits } from './traits.ts'
import { onSession, withSummary } from './summary.ts'
import type { SummarySession } from './summary.ts'
import { absent, named } from './table.ts'
import type { VersionRules } from './table.ts'
import { traits03, v03 } from './v0-3.ts'

/**
 * At 0.2 every message is of a user, in the key `userMessage`. The only contributor that a call can have is the
 * client that runs it.
 */
const traits02: Traits = {
  ...traits03,
  message: 'userMessage',
  callKeys: ['toolCallId', 'toolName', 'displayName', 'toolClientId', '_meta'],
}

export const v02: VersionRules = {
  ...v03,
  session: {
    ...v03.session,
    ...absent('session/mcpServerStateChanged'),
    ...named('session', onSession(conversationRules(traits02))),
    'session/changesetsChanged': (state: SummarySession, action: { readonly changesets?: unknown }) =>
      withSummary(state, { changesets: action.changesets ?? undefined }),
  },
  changeset: { ...v03.changeset, ...absent('changeset/operationStatusChanged') },
}
