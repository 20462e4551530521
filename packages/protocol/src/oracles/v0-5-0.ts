import { conversationRules } from './conversation.ts'
import type { Traits } from './traits.ts'
import { absent, named } from './table.ts'
import type { VersionRules } from './table.ts'
import { v051 } from './v0-5-1.ts'
import { traits052 } from './v0-5-2.ts'

/** At 0.5.0 a call has no intention, and the turns of a chat are not paged. */
export const traits050: Traits = {
  ...traits052,
  callKeys: ['toolCallId', 'toolName', 'displayName', 'contributor', '_meta'],
}

export const v050: VersionRules = {
  ...v051,
  session: { ...v051.session, ...absent('session/inputNeededSet', 'session/inputNeededRemoved') },
  chat: {
    ...v051.chat,
    ...named('chat', conversationRules(traits050)),
    ...absent('chat/turnsLoaded'),
  },
}
