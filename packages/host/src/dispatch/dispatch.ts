import { clientUriOwnersOf } from '../core/client-uri-owners.ts'
import type { Action } from '@atrium/protocol/channel'
import { checkAction } from '@atrium/protocol/kind'
import { compact } from '@atrium/protocol/update'
import { reasonIn } from '@atrium/protocol/versions/words'
import { annotationsCommitted } from '../annotations/annotations.ts'
import { filesChosen } from '../annotations/file-follower.ts'
import { withAuthor } from '../annotations/author.ts'
import { changesetCommitted } from '../changes/session-diffs.ts'
import { needsRow } from '../log/channel-rows.ts'
import type { Channel } from '../log/channel.ts'
import { convertAnswers } from '../chat/answer-conversion.ts'
import { repeatForm } from '../chat/repeat-form.ts'
import type { TurnAction } from '@atrium/protocol/chat/actions'
import { generationOf } from '../dialect/generation.ts'
import { loadTurnFor } from '../channels/history.ts'
import { clientUris } from '../resources/client-files.ts'
import type { Core } from '../kernel/core.ts'
import type { Link } from '../kernel/link.ts'
import { sessionOf } from '../core/lookup.ts'
import type { Entry } from '../log/entry.ts'
import type { Dispatcher, Sender } from '../log/options.ts'
import { withCallMeta } from '../tools/call-meta.ts'
import { convertDenial } from '../tools/denied-call.ts'
import type { Deciding } from '../tools/call-meta.ts'
import { actionProblem, roleProblem } from '../roles/roles.ts'
import { pinned } from '../turn/pin.ts'
import { sessionCommitted } from '../session/session.ts'
import { refusal } from './refusal.ts'
import { isRename, rename } from './rename.ts'
import { isSelection, select } from '../session/selection.ts'

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
 * or if the client repeats a choice of a model or agent that is not answered yet (`select`).
 */
export function dispatch(
  core: Core,
  link: Link,
  channel: Channel,
  { clientSeq, action, sent }: Dispatched,
): Entry | undefined {
  // The channel may have been dropped while the dispatch waited.
  if (core.log.channel(channel.uri) !== channel) return undefined
  const by: Dispatcher = { clientId: link.clientId, clientSeq, principal: link.principal }
  const sender = { by, listener: link, sent }
  if (isSelection(action) && channel.is('session') && selects(core, by.clientId)) {
    const forbidden = roleProblem(link, action.type, 'prompt')
    if (forbidden !== undefined) return core.log.refuse(channel, action, sender, forbidden)
    return select(core, channel, action, sender)
  }
  // A client renames a chat by an action of sessions, dispatched on the chat. So the session checks the action.
  const session = isRename(channel, action) ? sessionOf(core, channel.uri) : undefined
  const target = session ?? channel
  const checked = checkAction(target.kind, action)
  const read = checked.ok ? converted(channel, checked.value, by) : action
  // An action that only the host may dispatch is refused for this reason, even if it does not match its schema. A
  // problem with the schema would mislead an older client, which cannot know the members that 1.0 requires.
  const judged = checked.ok || !target.kind.dispatchable.has(action.type)
  // The role that an action needs may depend on the action's members, so only an action that matched a schema is
  // looked up. An action that belongs to another kind of channel also passes `checkAction`, but without a schema.
  const isOwn = checked.ok && target.kind.dispatchable.has(action.type)
  const forbidden = isOwn ? actionProblem(core, link, checked.value) : undefined
  const reason =
    forbidden ?? (judged ? refusal(core, target, read, by) : `${action.type}: ${checked.problem}`)
  if (reason !== undefined) {
    const refused = core.log.refuse(channel, action, sender, inOwnWords(core, reason, action, sender))
    if (checked.ok) repeatForm(core, channel, read, { clientId: by.clientId, reason })
    return refused
  }
  if (session && isRename(channel, action)) return rename(core, { session, chat: channel }, action, sender)
  // `needsRow` is true for two action types only, and both are turn actions. So the cast is safe.
  if (needsRow(action)) loadTurnFor(core, channel, action as TurnAction)
  if (mayNameClientFiles.has(action.type))
    for (const uri of clientUris(action)) clientUriOwnersOf(core).record(uri, by.clientId)
  const decider = deciderOf(core, by, link.device?.name)
  const at = new Date(core.world.now()).toISOString()
  const completed = withAuthor(channel, withCallMeta(channel, read, { ...decider, at }), decider)
  return core.log.accept(channel, pinned(core, completed), sender)
}

/** Words the reason of a refusal in the terms of the client's protocol version. */
function inOwnWords({ clients }: Core, reason: string, action: Action, { by, sent }: Sender): string {
  const version = sent && clients.versionOf(by.clientId)
  return sent && version !== undefined ? reasonIn(version, reason, action, sent) : reason
}

/**
 * Returns the action that a client means. Some clients send each answer as text, and some deny a running tool call
 * that they cannot run: such an answer gets its proper type, and such a denial becomes a failed result.
 */
function converted(channel: Channel, action: Action, { clientId }: Dispatcher): Action {
  return convertDenial(channel, convertAnswers(channel, action), clientId)
}

/** Whether a client chooses the model and the agent once for a session, as clients up to 0.4 do, and not for each message. */
function selects({ clients }: Core, clientId: string): boolean {
  const version = clients.versionOf(clientId)
  return version !== undefined && generationOf(version).single
}

function deciderOf({ clients }: Core, { principal, clientId }: Dispatcher, device?: string): Deciding {
  return compact<Deciding>({ principal, clientId, client: clients.implementationOf(clientId), device })
}

/** Runs the effect of a committed action. */
export function effect(core: Core, channel: Channel, entry: Entry): void {
  const { action, origin } = entry
  if (core.jobs.stopping) return
  core.parts.effect(channel, action)
  if (channel.is('session')) sessionCommitted(core, channel, action)
  if (channel.is('changeset')) changesetCommitted(core, channel, entry)
  if (channel.is('annotations')) {
    annotationsCommitted(core, channel)
    // An entry without an origin comes from the host. Either the host has moved comments after a change of the files,
    // or an agent has commented. For an agent's comment, `agent-comments.ts` calls `filesChosen` itself.
    if (origin) filesChosen(core, channel)
  }
}

/** Types of actions that may contain URIs of client files. The host remembers which client owns each of these URIs. */
const mayNameClientFiles = new Set([
  'chat/turnStarted',
  'chat/pendingMessageSet',
  'chat/draftChanged',
  'session/activeClientSet',
])
