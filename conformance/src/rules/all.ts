import type { Rule, Topic } from '../kit/rule.ts'
import { auth } from './auth.ts'
import { automations } from './automations.ts'
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
import { telemetry } from './telemetry.ts'
import { turns } from './turns.ts'
import { unknown } from './unknown.ts'
import { versions } from './versions.ts'
import { workers } from './workers.ts'

/** Every topic. Each topic owns ten consecutive ids, so the next topic takes K250 to K259, for example. */
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
  automations,
  telemetry,
]

/** Selects rules by id (`K12`), by the common start of ten ids (`K6` for K60 to K69), or by topic (`replay`). */
export function chosenTopics(wanted: readonly string[]): readonly Topic[] {
  const ids = new Set(topics.flatMap(({ rules }) => rules.map(({ id }) => id)))
  // K12 is an id, so it does not stand for K120 to K129. K6 is no id, so it stands for K60 to K69.
  const startsWith = (id: string, word: string) => !ids.has(word) && id.slice(0, -1) === word
  const matches = (topic: Topic, { id }: Rule) =>
    wanted.some((word) => id === word || startsWith(id, word) || topic.name === word)
  return topics
    .map((topic) => ({ ...topic, rules: topic.rules.filter((rule) => matches(topic, rule)) }))
    .filter(({ rules }) => rules.length > 0)
}
