import type { Chat } from '@atrium/host/ports/agent'
import type { ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { LanguageModelV3Message } from '@ai-sdk/provider'
import { noteOf } from './meta.ts'

/** What came before a turn: the turns that are told in full, and what stands for those before them. */
export interface Past {
  readonly turns: readonly Turn[]
  readonly summary?: string
  /** There are older ones still, and nothing stands for them. */
  readonly more: boolean
}

/**
 * The turns before the one that goes on, back to the newest summary; or so far that a model could not take more. A summary stands in the
 * turn in which it was made, so whoever takes that turn away has the older ones back.
 */
export async function pastOf(chat: Chat, most: number): Promise<Past> {
  const { turns: newest, activeTurn } = chat.state
  let turns: readonly Turn[] = newest
  const own = activeTurn && summaryIn(activeTurn.responseParts)
  let length = lengthOf(turns)
  for (;;) {
    const found = own ?? turns.map(({ responseParts }) => summaryIn(responseParts)).findLast((each) => each)
    const at = found ? turns.findIndex(({ id }) => id === found.upTo) : -1
    if (found && at >= 0) return { turns: turns.slice(at + 1), summary: found.summary, more: false }
    const first = turns[0]?.id ?? activeTurn?.id
    const older = first === undefined || length > most ? [] : await chat.before(first)
    if (older.length === 0) return found ? after(turns, found) : { turns, more: length > most }
    turns = [...older, ...turns]
    length += lengthOf(older)
  }
}

interface Summary {
  readonly summary: string
  readonly upTo: string
}

function summaryIn(parts: readonly ResponsePart[]): Summary | undefined {
  const part = parts.findLast(
    (each) => each.kind === 'systemNotification' && noteOf(each).summary !== undefined,
  )
  const { summary, upTo } = noteOf(part?.kind === 'systemNotification' ? part : undefined)
  return summary === undefined || upTo === undefined ? undefined : { summary, upTo }
}

/** The turn up to which it goes is not to be found: it stands for all before the one that it is in. */
function after(turns: readonly Turn[], { summary, upTo }: Summary): Past {
  const at = turns.findIndex(({ responseParts }) => summaryIn(responseParts)?.upTo === upTo)
  return { turns: turns.slice(Math.max(0, at)), summary, more: false }
}

/** What stands for what is not told. */
export function preface({ summary, more }: Past): readonly LanguageModelV3Message[] {
  const note = more ? '[Earlier turns of this conversation are left out here.]' : undefined
  const text = summary === undefined ? note : `[What was before, in short:]\n${summary}`
  return text === undefined ? [] : [{ role: 'user', content: [{ type: 'text', text }] }]
}

function lengthOf(turns: readonly Turn[]): number {
  return turns.reduce((sum, turn) => sum + JSON.stringify(turn).length, 0)
}
