import type { Action } from '@atrium/protocol/channel'
import type { TurnAction } from '@atrium/protocol/chat/actions'
import { checkAction } from '@atrium/protocol/kind'
import { compact } from '@atrium/protocol/update'
import { reasonIn } from '@atrium/protocol/versions/words'
import { loadTurnFor } from '../channels/history.ts'
import type { Core } from '../kernel/core.ts'
import type { Author, Detour } from '../kernel/dispatch-rules.ts'
import type { Link } from '../kernel/link.ts'
import { valueProblem } from '../kernel/role-check.ts'
import { needsRow } from '../kernel/log/channel-rows.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { Entry } from '../kernel/log/entry.ts'
import type { Dispatcher, Sender } from '../kernel/log/options.ts'
import { refusal } from './refusal.ts'

interface Dispatched {
  readonly clientSeq: number
  readonly action: Action
  /** The action as the client sent it, if the client's protocol version is an older one. */
  readonly sent?: Action | undefined
}

/**
 * Accepts or refuses an action that a client dispatched, and returns the entry that answers it. An accepted action
 * has passed the guards and is appended; its effect runs once it is committed. A refusal has a reason. The client
 * gets its accepted and its refused actions in the order of its dispatches. Returns undefined if the channel is gone,
 * or if the answer comes later (`Detour`).
 */
export function dispatch(
  core: Core,
  link: Link,
  channel: Channel,
  { clientSeq, action, sent }: Dispatched,
): Entry | undefined {
  // The channel may have been dropped while the dispatch waited.
  if (core.log.channel(channel.uri) !== channel) return undefined
  const { conversions, refused, accepting, completions } = core.parts.dispatchRules
  const by: Dispatcher = { clientId: link.clientId, clientSeq, principal: link.principal }
  const sender = { by, listener: link, sent }
  const detour = detourOf(core, channel, action, by)
  if (detour && !detour.target) {
    const forbidden = valueProblem(core, link, action.type, action)
    return forbidden === undefined
      ? detour.accept(sender)
      : core.log.refuse(channel, action, sender, forbidden)
  }
  const target = detour?.target ?? channel
  const checked = checkAction(target.kind, action)
  const read = checked.ok
    ? conversions.reduce((each, convert) => convert(channel, each, by), checked.value)
    : action
  // An action that only the host may dispatch is refused for this reason, even if it does not match its schema. A
  // problem with the schema would mislead an older client, which cannot know the members that 1.0 requires.
  const judged = checked.ok || !target.kind.dispatchable.has(action.type)
  // The role that an action needs may depend on the action's members, so only an action that matched a schema is
  // looked up. An action that belongs to another kind of channel also passes `checkAction`, but without a schema.
  const isOwn = checked.ok && target.kind.dispatchable.has(action.type)
  const forbidden = isOwn ? valueProblem(core, link, action.type, checked.value) : undefined
  const reason =
    forbidden ?? (judged ? refusal(core, target, read, by) : `${action.type}: ${checked.problem}`)
  if (reason !== undefined) {
    const entry = core.log.refuse(channel, action, sender, inOwnWords(core, reason, action, sender))
    if (checked.ok)
      for (const follow of refused) follow(core, channel, read, { clientId: by.clientId, reason })
    return entry
  }
  if (detour) return detour.accept(sender)
  // `needsRow` is true for two action types only, and both are turn actions. So the cast is safe.
  if (needsRow(action)) loadTurnFor(core, channel, action as TurnAction)
  for (const prepare of accepting) prepare(core, channel, action, by)
  const author = authorOf(core, link)
  const completed = completions.reduce((each, complete) => complete(core, channel, each, author), read)
  return core.log.accept(channel, completed, sender)
}

function detourOf(core: Core, channel: Channel, action: Action, by: Dispatcher): Detour | undefined {
  for (const find of core.parts.dispatchRules.detours) {
    const found = find(core, channel, action, by)
    if (found) return found
  }
  return undefined
}

/** Words the reason of a refusal in the terms of the client's protocol version. */
function inOwnWords({ clients }: Core, reason: string, action: Action, { by, sent }: Sender): string {
  const version = sent && clients.versionOf(by.clientId)
  return sent && version !== undefined ? reasonIn(version, reason, action, sent) : reason
}

function authorOf({ clients, world }: Core, { principal, clientId, device }: Link): Author {
  const client = clients.implementationOf(clientId)
  const at = new Date(world.now()).toISOString()
  return compact<Author>({ principal, clientId, client, device: device?.name, at })
}
