import type { Chat } from '@atrium/host/ports/agent'
import type { ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { LanguageModelV3Message } from '@ai-sdk/provider'
import { metaOf } from './meta.ts'

/** The turns before the active turn. The newer ones are sent in full, and a summary replaces the older ones. */
export interface EarlierTurns {
  readonly turns: readonly Turn[]
  readonly summary?: string
  /** Whether some older turns are neither in `turns` nor covered by `summary`. */
  readonly omitted: boolean
}

/**
 * Reads the turns before the active turn, from the newest back to the newest summary, or until `maxLength` characters are
 * read. A summary is stored in the turn in which it was made. If users truncate the chat before that turn, the older turns
 * are sent in full again.
 */
export async function readEarlierTurns(chat: Chat, maxLength: number): Promise<EarlierTurns> {
  const { turns: newest, activeTurn } = chat.state
  let turns: readonly Turn[] = newest
  const current = activeTurn && summaryIn(activeTurn.responseParts)
  let length = lengthOf(turns)
  for (;;) {
    const found =
      current ?? turns.map(({ responseParts }) => summaryIn(responseParts)).findLast((each) => each)
    const at = found ? turns.findIndex(({ id }) => id === found.upTo) : -1
    if (found && at >= 0) return { turns: turns.slice(at + 1), summary: found.summary, omitted: false }
    const first = turns[0]?.id ?? activeTurn?.id
    const older = first === undefined || length > maxLength ? [] : await chat.before(first)
    if (older.length === 0)
      return found ? turnsAfterSummary(turns, found) : { turns, omitted: length > maxLength }
    turns = [...older, ...turns]
    length += lengthOf(older)
  }
}

interface StoredSummary {
  readonly summary: string
  readonly upTo: string
}

function summaryIn(parts: readonly ResponsePart[]): StoredSummary | undefined {
  const part = parts.findLast(
    (each) => each.kind === 'systemNotification' && metaOf(each).summary !== undefined,
  )
  const { summary, upTo } = metaOf(part?.kind === 'systemNotification' ? part : undefined)
  return summary === undefined || upTo === undefined ? undefined : { summary, upTo }
}

/**
 * Returns the turns that follow a summary, if the last turn that it covers (`upTo`) no longer exists. They begin with
 * the turn that holds the summary, because the summary covers all turns before that one.
 */
function turnsAfterSummary(turns: readonly Turn[], { summary, upTo }: StoredSummary): EarlierTurns {
  const at = turns.findIndex(({ responseParts }) => summaryIn(responseParts)?.upTo === upTo)
  return { turns: turns.slice(Math.max(0, at)), summary, omitted: false }
}

/** Returns the message that stands for the turns that are not sent. */
export function preface({ summary, omitted }: EarlierTurns): readonly LanguageModelV3Message[] {
  const notice = omitted ? '[Earlier turns of this conversation are left out here.]' : undefined
  const text = summary === undefined ? notice : `[What was before, in short:]\n${summary}`
  return text === undefined ? [] : [{ role: 'user', content: [{ type: 'text', text }] }]
}

function lengthOf(turns: readonly Turn[]): number {
  return turns.reduce((sum, turn) => sum + JSON.stringify(turn).length, 0)
}
