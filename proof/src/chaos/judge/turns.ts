import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { agrees, turnProblem } from '../../judge/rules.ts'
import type { Run } from '../history.ts'
import type { ChannelLog } from './channel-log.ts'
import type { Violation } from './violation.ts'

/**
 * Checks I17: every action on a turn comes while the turn is active, so a turn ends only once. At the end of the run
 * every turn has ended.
 */
export function oneEnd({ stored }: Run, logs: ReadonlyMap<Uri, ChannelLog>): readonly Violation[] {
  return [...logs].flatMap(([uri, log]): readonly Violation[] => {
    if (log.kind.name !== 'chat') return []
    const late = [...log.steps()].flatMap(({ envelope, before }): readonly Violation[] => {
      const sentence = turnProblem(before as ChatState, envelope.action)
      return sentence === undefined ? [] : [{ rule: 'I17', sentence, envelope }]
    })
    const { activeTurn } = log.last as ChatState
    if (!activeTurn || !stored.rested) return late
    return [...late, { rule: 'I17', sentence: `${activeTurn.id} of ${uri} never ended` }]
  })
}

/** Checks I18: the entry for a chat in its session agrees with the chat. */
export function summariesAgree({ stored }: Run): readonly Violation[] {
  const chats = new Map(stored.channels.map(({ uri, state }) => [uri, state as ChatState]))
  return stored.channels.flatMap(({ uri, kind, state }): readonly Violation[] =>
    (kind === 'session' ? (state as SessionState).chats : []).flatMap((entry): readonly Violation[] => {
      const chat = chats.get(entry.resource)
      const same = !chat || agrees(entry, chat)
      return same
        ? []
        : [{ rule: 'I18', sentence: `${uri} has an entry of ${entry.resource} that differs from the chat` }]
    }),
  )
}
