import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import type { LanguageModelV3Message } from '@ai-sdk/provider'
import { charactersFor, withoutOldResults, estimateTokens } from './context-budget.ts'
import { toMessages, endsInText } from './messages.ts'
import { toMeta } from './meta.ts'
import { readEarlierTurns, preface } from './earlier-turns.ts'
import type { EarlierTurns } from './earlier-turns.ts'
import { continuePrompt } from './prompt.ts'
import type { PartOptions } from './parts.ts'
import type { Summary } from './summary.ts'
import type { StreamProgress } from './stream-progress.ts'

export interface Context {
  readonly chat: Chat
  readonly progress: StreamProgress
  readonly vision: boolean
  readonly imageResults: boolean
  /** The maximum number of tokens of all messages of a request. */
  readonly budget: number
  /** Asks the model for a summary. Returns undefined if the request fails. */
  summarize(messages: readonly LanguageModelV3Message[]): Promise<Summary | undefined>
}

/**
 * Builds the messages of a request from the chat's state. If the messages exceed the budget, a summary replaces the older
 * turns in this request and all later ones. The summary is stored in a notification of the chat. The turns themselves are not
 * changed.
 */
export async function* buildContext(
  context: Context,
): AsyncGenerator<AgentAction, readonly LanguageModelV3Message[]> {
  const { chat, progress, budget } = context
  await progress.committed()
  const earlier = await readEarlierTurns(chat, charactersFor(budget) * 2)
  const messages = await assemble(context, earlier)
  if (estimateTokens(messages) <= budget || earlier.turns.length === 0)
    return withoutOldResults(messages, budget)
  const kept = await countKept(context, earlier)
  const older = { ...earlier, turns: earlier.turns.slice(0, earlier.turns.length - kept) }
  const upTo = older.turns.at(-1)?.id ?? ''
  const options = partOptions(context)
  const summary = await context.summarize([...preface(older), ...(await toMessages(older.turns, options))])
  if (summary) {
    const content = 'Earlier turns were summarized to fit the context window of the model.'
    const meta = toMeta({ summary: summary.text, upTo })
    yield { type: 'chat/responsePart', part: { kind: 'systemNotification', content, ...meta } }
    progress.addPart()
    await progress.committed()
  }
  // If the summary failed, the newest turns are sent without one.
  const turns = earlier.turns.slice(earlier.turns.length - kept)
  const recent: EarlierTurns = summary
    ? { turns, summary: summary.text, omitted: false }
    : { ...earlier, turns, omitted: true }
  return withoutOldResults(await assemble(context, recent), budget)
}

async function assemble(context: Context, earlier: EarlierTurns): Promise<readonly LanguageModelV3Message[]> {
  const { activeTurn } = context.chat.state
  const turns = activeTurn ? [...earlier.turns, activeTurn] : earlier.turns
  const messages = [...preface(earlier), ...(await toMessages(turns, partOptions(context)))]
  const cut = activeTurn && endsInText(activeTurn.responseParts)
  return cut ? [...messages, { role: 'user', content: [{ type: 'text', text: continuePrompt }] }] : messages
}

/**
 * Returns how many of the newest turns are sent in full. They use at most a quarter of the budget, and at least one turn is
 * left for the summary.
 */
async function countKept(context: Context, { turns }: EarlierTurns): Promise<number> {
  let kept = 0
  let tokens = 0
  for (const turn of turns.toReversed()) {
    tokens += estimateTokens(await toMessages([turn], partOptions(context)))
    if (tokens > context.budget / 4 || kept === turns.length - 1) break
    kept++
  }
  return kept
}

/** Returns options that limit each text to half of the budget. */
function partOptions({ chat, vision, imageResults, budget }: Context): PartOptions {
  return { chat, vision, imageResults, maxLength: Math.max(1000, Math.floor(charactersFor(budget) / 2)) }
}
