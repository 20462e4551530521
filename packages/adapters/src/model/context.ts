import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import type { LanguageModelV3Message } from '@ai-sdk/provider'
import { charactersIn, fitted, tokensIn } from './context-budget.ts'
import { conversation, endsInText } from './messages.ts'
import { noted } from './meta.ts'
import { pastOf, preface } from './earlier-turns.ts'
import type { Past } from './earlier-turns.ts'
import { goOn } from './prompt.ts'
import type { Reading } from './parts.ts'
import type { Summary } from './summary.ts'
import type { Telling } from './stream-progress.ts'

export interface Context {
  readonly chat: Chat
  readonly telling: Telling
  readonly vision: boolean
  /** In tokens, for all that is sent. */
  readonly room: number
  /** Asks the model for it; nothing where it has none. */
  summarise(messages: readonly LanguageModelV3Message[]): Promise<Summary | undefined>
}

/**
 * What the model is sent: the chat as its state has it. Where that is too much, older turns are told in short from now on; that is said in the
 * chat, and the turns themselves stay as they are.
 */
export async function* contextOf(
  context: Context,
): AsyncGenerator<AgentAction, readonly LanguageModelV3Message[]> {
  const { chat, telling, room } = context
  await telling.told()
  const past = await pastOf(chat, charactersIn(room) * 2)
  const messages = await assembled(context, past)
  if (tokensIn(messages) <= room || past.turns.length === 0) return fitted(messages, room)
  const kept = await keptOf(context, past)
  const old = { ...past, turns: past.turns.slice(0, past.turns.length - kept) }
  const upTo = old.turns.at(-1)?.id ?? ''
  const reading = readingOf(context)
  const summary = await context.summarise([...preface(old), ...(await conversation(old.turns, reading))])
  if (summary) {
    const content = 'Earlier turns were summarised, to make room for what comes.'
    const note = noted({ summary: summary.text, upTo })
    yield { type: 'chat/responsePart', part: { kind: 'systemNotification', content, ...note } }
    telling.made()
    await telling.told()
  }
  // Without one, too, the newest turns are what matters.
  const turns = past.turns.slice(past.turns.length - kept)
  const rest: Past = summary ? { turns, summary: summary.text, more: false } : { ...past, turns, more: true }
  return fitted(await assembled(context, rest), room)
}

async function assembled(context: Context, past: Past): Promise<readonly LanguageModelV3Message[]> {
  const { activeTurn } = context.chat.state
  const turns = activeTurn ? [...past.turns, activeTurn] : past.turns
  const messages = [...preface(past), ...(await conversation(turns, readingOf(context)))]
  const cut = activeTurn && endsInText(activeTurn.responseParts)
  return cut ? [...messages, { role: 'user', content: [{ type: 'text', text: goOn }] }] : messages
}

/** How many of the newest turns stay: as many as fit well, and the last of them only if it does. */
async function keptOf(context: Context, { turns }: Past): Promise<number> {
  let kept = 0
  let tokens = 0
  for (const turn of turns.toReversed()) {
    tokens += tokensIn(await conversation([turn], readingOf(context)))
    if (tokens > context.room / 4 || kept === turns.length - 1) break
    kept++
  }
  return kept
}

/** One text has at most half of all. */
function readingOf({ chat, vision, room }: Context): Reading {
  return { chat, vision, most: Math.max(1000, Math.floor(charactersIn(room) / 2)) }
}
