import { rootCommand, notification } from '../command.ts'
import { ProtectedResourceMetadata } from '../common/auth.ts'
import { array, id, natural, number, openEnum, optional, string } from '../schema.ts'
import { SessionSummary, SessionSummaryChanges } from '../session/state.ts'

export const rootCommands = {
  listSessions: rootCommand(
    { limit: optional(natural), cursor: optional(string) },
    { items: array(SessionSummary), nextCursor: optional(string) },
  ),
}

export const rootNotifications = {
  'root/sessionAdded': notification('host', { summary: SessionSummary }),
  'root/sessionRemoved': notification('host', { session: id }),
  'root/sessionSummaryChanged': notification('host', { session: id, changes: SessionSummaryChanges }),
  'root/progress': notification('host', {
    progressToken: id,
    progress: number,
    total: optional(number),
    message: optional(string),
  }),
  'auth/required': notification('host', {
    resource: ProtectedResourceMetadata,
    reason: optional(openEnum('AuthRequiredReason', ['required', 'expired'])),
  }),
}
