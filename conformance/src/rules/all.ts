import type { Rule, Topic } from '../kit/rule.ts'
import { handshake } from './handshake.ts'
import { messages } from './messages.ts'
import { order } from './order.ts'
import { rejection } from './rejection.ts'
import { replay } from './replay.ts'
import { sessions } from './sessions.ts'
import { subscriptions } from './subscriptions.ts'
import { unknown } from './unknown.ts'
import { versions } from './versions.ts'

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
]

/** The topics with only the rules that are asked for: by an id or its beginning, or by topic. */
export function chosenTopics(wanted: readonly string[]): readonly Topic[] {
  const fits = (topic: Topic, { id }: Rule) =>
    wanted.some((word) => word !== '' && (id.startsWith(word) || topic.name === word))
  return topics
    .map((topic) => ({ ...topic, rules: topic.rules.filter((rule) => fits(topic, rule)) }))
    .filter(({ rules }) => rules.length > 0)
}
