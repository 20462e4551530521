import { rootCommand, note } from '../command.ts'
import { ProtectedResourceMetadata } from '../common/auth.ts'
import { array, id, natural, number, openEnum, optional, string } from '../schema.ts'
import { SessionSummary, SessionSummaryChanges } from '../session/state.ts'

export const rootCommands = {
  listSessions: rootCommand(
    { limit: optional(natural), cursor: optional(string) },
    { items: array(SessionSummary), nextCursor: optional(string) },
  ),
}

export const rootNotes = {
  'root/sessionAdded': note('host', { summary: SessionSummary }),
  'root/sessionRemoved': note('host', { session: id }),
  'root/sessionSummaryChanged': note('host', { session: id, changes: SessionSummaryChanges }),
  'root/progress': note('host', {
    progressToken: id,
    progress: number,
    total: optional(number),
    message: optional(string),
  }),
  'auth/required': note('host', {
    resource: ProtectedResourceMetadata,
    reason: optional(openEnum('AuthRequiredReason', ['required', 'expired'])),
  }),
}
