import { rootCommand, notification } from '../command.ts'
import { ProtectedResourceMetadata } from '../common/auth.ts'
import { array, id, natural, number, openEnum, optional, string } from '../schema.ts'
import { SessionSummary, SessionSummaryChanges } from '../session/state.ts'
import { since } from '../version.ts'

export const rootCommands = since('0.1.0', {
  listSessions: rootCommand(
    { limit: optional(natural), cursor: optional(string) },
    { items: array(SessionSummary), nextCursor: optional(string) },
  ),
})

export const rootNotifications = since('0.2.0', {
  'root/sessionAdded': notification('host', { summary: SessionSummary }),
  'root/sessionRemoved': notification('host', { session: id }),
  'root/sessionSummaryChanged': notification('host', { session: id, changes: SessionSummaryChanges }),
  ...since('0.5.0', {
    'root/progress': notification('host', {
      progressToken: id,
      progress: number,
      total: optional(number),
      message: optional(string),
    }),
  }),
  'auth/required': notification('host', {
    resource: ProtectedResourceMetadata,
    reason: optional(openEnum('AuthRequiredReason', ['required', 'expired'])),
  }),
})
