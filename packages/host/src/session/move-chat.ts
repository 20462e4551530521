import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState } from '@atrium/protocol/session/state'
import { Activity } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { sessionUri } from '@atrium/protocol/uri'
import { chooseAgent } from '../agents/agents.ts'
import { announce } from '../root/announce.ts'
import { entryOf, sessionOf } from '../core/lookup.ts'
import { changeable } from '../channels/names.ts'
import type { Channel } from '../log/channel.ts'
import type { Core, Link } from '../core/core.ts'
import { create } from './creation.ts'
import { equal } from '../log/equal.ts'
import { movableChange, unmovable } from '../chat/movable.ts'
import { sleepWhenIdle } from '../channels/sleep.ts'
import { createChannels, forgetSession } from './session.ts'
import { wake } from '../channels/wake.ts'

type Moved = Promise<{ readonly seq: number; readonly session: Uri }>

/** A chat goes to another place in its session, to another session, or to a new one. Its URI and its state stay what they are. */
export function moveChat(core: Core, link: Link, { channel: chat, destination }: Params<'moveChat'>): Moved {
  changeable(core)
  if (destination.kind === 'session') return moveTo(core, chat, destination.session, destination.after)
  if (destination.kind === 'newSession') return moveOut(core, link, chat)
  throw AhpError.invalidParams('moveChat: a chat goes to a session, or to a new one')
}

async function moveTo(core: Core, uri: Uri, to: Uri, after?: Uri): Moved {
  await wakeTogether(core, uri, to)
  // From here on nothing waits: the checks and all that changes are one step.
  const { chat, from } = leaving(core, uri)
  const target = core.log.channel(to, 'session')
  if (!target || !core.catalog.get(to)) throw AhpError.sessionNotFound(to)
  const chats = target === from ? [entry(from, uri)] : family(from, uri)
  const others = target.head.chats.filter((each) => !chats.some(same(each)))
  const anchor = after === undefined ? undefined : (core.catalog.defaultChatNamed(after) ?? after)
  const at = others.findIndex(({ resource }) => resource === anchor)
  if (anchor !== undefined && at < 0)
    throw AhpError.invalidParams('moveChat: `after` is no other chat of that session')
  if (target !== from) {
    admit(core, target, from, chat, chats.length)
    carry(core, from, target, chats)
  }
  const order = [...others.slice(0, at + 1), ...chats, ...others.slice(at + 1)].map(
    ({ resource }) => resource,
  )
  if (
    !equal(
      order,
      target.head.chats.map(({ resource }) => resource),
    )
  )
    append(core, target, { type: 'session/chatsReordered', chats: order })
  // Whoever puts a chat there uses it.
  if (target !== from) announce(core, target)
  return { seq: core.log.last, session: to }
}

/**
 * A new session like the one that a chat is in. It is made first, unheard: if its agent cannot make it the chat stays, and
 * where the host dies meanwhile it is one that nobody used.
 */
async function moveOut(core: Core, link: Link, uri: Uri): Moved {
  await wake(core, uri)
  const { from } = leaving(core, uri)
  if (core.catalog.size >= core.limits.sessions)
    throw AhpError.permissionDenied(`there are ${core.catalog.size} sessions: dispose of some first`)
  const like = from.head
  chooseAgent(core, like.provider)
  const createdAt = new Date(core.world.now()).toISOString()
  const made = createChannels(core, link, sessionUri(core.world.id()), newState(like), createdAt)
  sleepWhenIdle(core, made)
  await core.log.reached(core.log.last)
  await create(core, made)
  try {
    const { creationError } = made.head
    if (creationError) throw AhpError.conflict(creationError.message)
    return await moveTo(core, uri, made.uri)
  } catch (error) {
    // Unless somebody found it, and uses it.
    const unheard = core.catalog.creatorOf(made.uri) !== undefined
    if (unheard && core.log.channel(made.uri) === made) forgetSession(core, made)
    throw error
  }
}

/** A chat that may leave its place now. */
function leaving(
  core: Core,
  uri: Uri,
): { readonly chat: Channel<'chat'>; readonly from: Channel<'session'> } {
  const chat = core.log.channel(uri, 'chat')
  const from = sessionOf(core, uri)
  if (!chat || !from) throw AhpError.notFound(`no chat ${JSON.stringify(uri.slice(0, 200))}`)
  const reason = unmovable(from.head, chat.head)
  if (reason !== undefined) throw AhpError.conflict(reason)
  return { chat, from }
}

/** It goes on where it worked, with whoever answered it. */
function admit(
  { limits }: Core,
  target: Channel<'session'>,
  from: Channel<'session'>,
  chat: Channel<'chat'>,
  count: number,
): void {
  const there = target.head
  const here = from.head
  const own = chat.head.workingDirectories
  if (there.lifecycle === 'failed') throw AhpError.conflict('that session could not be created')
  if (there.provider !== here.provider) throw AhpError.conflict('that session has another agent')
  const { workingDirectories: those = [] } = there
  const works = own ? own.every((each) => those.includes(each)) : equal(those, here.workingDirectories ?? [])
  if (!works) throw AhpError.conflict('that session works in other directories')
  if (there.chats.length + count > limits.chats)
    throw AhpError.permissionDenied(`a session has at most ${limits.chats} chats`)
}

/** Part of a step: all that is known of these chats is known of another session from now on. */
function carry(
  core: Core,
  from: Channel<'session'>,
  target: Channel<'session'>,
  chats: readonly ChatSummary[],
): void {
  for (const { resource: chat } of chats) append(core, from, { type: 'session/chatRemoved', chat })
  const arrived = chats.map((summary) => {
    const told = core.catalog.chatIndex.move(summary.resource, target.uri)
    append(core, target, { type: 'session/chatAdded', summary })
    for (const terminal of core.sessionResources.ofChat(summary.resource))
      hand(core, terminal, target.uri, summary.resource)
    return told
  })
  core.contentRetention.retain(target.uri, from.uri)
  const [first] = chats
  if (first && target.head.defaultChat === undefined) lead(core, target, first)
  void core.log.reached(core.log.last).then(() => {
    for (const told of arrived) told()
  })
}

/** A session that was made for a chat has it for its default chat, and its name. */
function lead(core: Core, target: Channel<'session'>, { resource, title }: ChatSummary): void {
  append(core, target, { type: 'session/defaultChatChanged', defaultChat: resource })
  if (title !== '') append(core, target, { type: 'session/titleChanged', title })
  const chat = core.log.channel(resource, 'chat')
  if (!chat) return
  const movable = movableChange(target.head, chat.head)
  if (movable !== undefined) core.log.append(chat, { type: 'chat/movableChanged', movable })
}

/** What a chat holds goes with it. Who held it when it ended is past, and stays as it is. */
function hand(core: Core, uri: Uri, session: Uri, chat: Uri): void {
  const terminal = core.log.channel(uri, 'terminal')
  const claim = terminal?.head.lifecycle.status === 'running' ? terminal.head.claim : undefined
  if (terminal && claim?.kind === 'session')
    core.log.append(terminal, { type: 'terminal/claimed', claim: { ...claim, session } })
  else core.sessionResources.assign(uri, session, chat)
}

/** A chat, and those that worked for it, for them, and so on: the work is done, and is spoken of in its turns. */
function family(session: Channel<'session'>, uri: Uri): readonly ChatSummary[] {
  const found = [entry(session, uri)]
  const { chats } = session.head
  for (const { resource } of found)
    found.push(...chats.filter(({ origin }) => origin?.kind === 'tool' && origin.chat === resource))
  return found
}

function entry(session: Channel<'session'>, uri: Uri): ChatSummary {
  const found = entryOf(session, uri)
  if (!found) throw new Error(`${session.uri} does not list ${uri}`)
  return found
}

function same({ resource }: ChatSummary): (other: ChatSummary) => boolean {
  return (other) => other.resource === resource
}

function newState(like: SessionState): SessionState {
  const { provider, workingDirectories, customizations, config, project } = like
  return compact<SessionState>({
    provider,
    title: '',
    status: Activity.Idle,
    lifecycle: 'creating',
    activeClients: [],
    workingDirectories,
    customizations,
    config,
    project,
    chats: [],
  })
}

/** A chat, its session and another are in memory in one moment, as far as they are there. */
async function wakeTogether(core: Core, chat: Uri, session: Uri): Promise<void> {
  for (let up = false; !up;) {
    const found = await Promise.all([chat, session].map((uri) => wake(core, uri)))
    up = found.every((channel) => !channel || core.log.channel(channel.uri) === channel)
  }
}

function append(core: Core, channel: Channel, action: SessionAction | ChatAction): void {
  core.log.append(channel, action)
}
