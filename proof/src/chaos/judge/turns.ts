import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import type { Run } from '../history.ts'
import type { Past } from './truth.ts'
import type { Violation } from './violation.ts'

/** I17: whatever is said of a turn is said while it goes on, so that it ends once; and in the end all have ended. */
export function oneEnd({ stored }: Run, pasts: ReadonlyMap<Uri, Past>): readonly Violation[] {
  return [...pasts].flatMap(([uri, past]): readonly Violation[] => {
    if (past.kind.name !== 'chat') return []
    const late = [...past.steps()].flatMap(({ envelope, before }): readonly Violation[] => {
      const sentence = objection(before as ChatState, envelope.action)
      return sentence === undefined ? [] : [{ rule: 'I17', sentence, envelope }]
    })
    const { activeTurn } = past.last as ChatState
    if (!activeTurn || !stored.rested) return late
    return [...late, { rule: 'I17', sentence: `${activeTurn.id} of ${uri} never ended` }]
  })
}

function objection({ activeTurn }: ChatState, action: Action): string | undefined {
  const { turnId } = action as { readonly turnId?: string }
  const begins = action.type === 'chat/turnStarted' || action.type === 'chat/turnResume'
  if (begins) return activeTurn && `${activeTurn.id} went on when ${turnId} was begun`
  if (turnId === undefined || action.type === 'chat/truncated' || activeTurn?.id === turnId) return undefined
  return `this was said of ${turnId}, which did not go on`
}

/** I18: a session's entry of a chat says what the chat says. */
export function onePicture({ stored }: Run): readonly Violation[] {
  const chats = new Map(stored.channels.map(({ uri, state }) => [uri, state as ChatState]))
  return stored.channels.flatMap(({ uri, kind, state }): readonly Violation[] =>
    (kind === 'session' ? (state as SessionState).chats : []).flatMap((entry): readonly Violation[] => {
      const chat = chats.get(entry.resource)
      const same = !chat || (seen(entry) === seen(chat) && entry.modifiedAt === chat.modifiedAt)
      return same ? [] : [{ rule: 'I18', sentence: `${uri} shows another ${entry.resource} than there is` }]
    }),
  )
}

function seen({ status, activity = '' }: Pick<ChatState, 'status' | 'activity'>): string {
  return `${status} ${activity}`
}
