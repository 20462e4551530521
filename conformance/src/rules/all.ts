import type { Rule, Topic } from '../kit/rule.ts'
import { auth } from './auth.ts'
import { calls } from './calls.ts'
import { chats } from './chats.ts'
import { completions } from './completions.ts'
import { forks } from './forks.ts'
import { guards } from './guards.ts'
import { handshake } from './handshake.ts'
import { history } from './history.ts'
import { lifecycle } from './lifecycle.ts'
import { messages } from './messages.ts'
import { moves } from './moves.ts'
import { order } from './order.ts'
import { pending } from './pending.ts'
import { questions } from './questions.ts'
import { rejection } from './rejection.ts'
import { replay } from './replay.ts'
import { sessions } from './sessions.ts'
import { subscriptions } from './subscriptions.ts'
import { turns } from './turns.ts'
import { unknown } from './unknown.ts'
import { versions } from './versions.ts'
import { workers } from './workers.ts'

/** Every rule. A new topic is a line here; its numbers are a decade of their own. */
export const topics: readonly Topic[] = [
  handshake,
  versions,
  messages,
  subscriptions,
  order,
  replay,
  rejection,
  sessions,
  unknown,
  lifecycle,
  chats,
  turns,
  guards,
  history,
  forks,
  completions,
  auth,
  moves,
  calls,
  questions,
  pending,
  workers,
]

/** The topics with only the rules that are asked for: by an id, by what ten of them begin with, or by topic. */
export function chosenTopics(wanted: readonly string[]): readonly Topic[] {
  const ids = new Set(topics.flatMap(({ rules }) => rules.map(({ id }) => id)))
  // K12 is a rule and not the ten that begin with it; K6 is no rule, and so it is ten.
  const begins = (id: string, word: string) => !ids.has(word) && id.slice(0, -1) === word
  const fits = (topic: Topic, { id }: Rule) =>
    wanted.some((word) => id === word || begins(id, word) || topic.name === word)
  return topics
    .map((topic) => ({ ...topic, rules: topic.rules.filter((rule) => fits(topic, rule)) }))
    .filter(({ rules }) => rules.length > 0)
}
