import { catalogOf } from '../../catalog/catalog.ts'
import { sessionResourcesOf } from '../../catalog/session-resources.ts'
import { contentRetentionOf } from '../../catalog/content-retention.ts'
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
import { announce } from '../../catalog/announce.ts'
import { entryOf, sessionOf } from '../../catalog/lookup.ts'
import { changeable } from '../../channels/names.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { Link } from '../../kernel/link.ts'
import { runCreation } from './creation.ts'
import { equal } from '../../kernel/log/equal.ts'
import { movableChange, unmovable } from '../chat/movable.ts'
import { sleepWhenIdle } from '../../channels/sleep.ts'
import { createSessionChannel, forgetSession } from './session.ts'
import { wake } from '../../channels/wake.ts'
import { shareWorktree } from '../worktrees/worktrees.ts'

type Move = Promise<{ readonly seq: number; readonly session: Uri }>

/** Moves a chat within its session, to another session, or to a new one. The chat keeps its URI and its state. */
export function moveChat(core: Core, link: Link, { channel: chat, destination }: Params<'moveChat'>): Move {
  changeable(core)
  if (destination.kind === 'session') return moveTo(core, chat, destination.session, destination.after)
  if (destination.kind === 'newSession') return moveToNew(core, link, chat)
  throw AhpError.invalidParams('moveChat: the kind of the destination must be session or newSession')
}

async function moveTo(core: Core, uri: Uri, to: Uri, after?: Uri): Move {
  await wakeTogether(core, uri, to)
  // No `await` from here on: the checks and all changes are one step.
  const { chat, from } = movableChat(core, uri)
  const target = core.log.channel(to, 'session')
  if (!target || !catalogOf(core).get(to)) throw AhpError.sessionNotFound(to)
  const chats = target === from ? [entry(from, uri)] : withWorkers(from, uri)
  const moving = urisOf(chats)
  const others = target.head.chats.filter(({ resource }) => !moving.includes(resource))
  const anchor = after === undefined ? undefined : (catalogOf(core).defaultChatNamed(after) ?? after)
  const at = others.findIndex(({ resource }) => resource === anchor)
  if (anchor !== undefined && at < 0)
    throw AhpError.invalidParams('moveChat: `after` is not another chat of that session')
  if (target !== from) {
    checkTarget(core, { target, from, chat, count: chats.length })
    transfer(core, from, target, chats)
    shareWorktree(core, from, target)
  }
  const order = urisOf([...others.slice(0, at + 1), ...chats, ...others.slice(at + 1)])
  if (!equal(order, urisOf(target.head.chats)))
    append(core, target, { type: 'session/chatsReordered', chats: order })
  // A session that a chat was moved to counts as used, so it is announced in the session list.
  if (target !== from) announce(core, target)
  return { seq: core.log.last, session: to }
}

/**
 * Moves a chat to a new session that has the settings of the chat's present session. The new session is created
 * first, and is not in the session list yet. If its agent cannot create it, the chat stays where it is. After a crash
 * the new session is disposed of, like every session that was never used.
 */
async function moveToNew(core: Core, link: Link, uri: Uri): Move {
  await wake(core, uri)
  const { from } = movableChat(core, uri)
  if (catalogOf(core).size >= core.limits.sessions)
    throw AhpError.permissionDenied(`there are ${catalogOf(core).size} sessions: dispose of some first`)
  const template = from.head
  chooseAgent(core, template.provider)
  const createdAt = new Date(core.world.now()).toISOString()
  const session = createSessionChannel(core, link, {
    uri: sessionUri(core.world.id()),
    state: newState(template),
    createdAt,
  })
  sleepWhenIdle(core, session)
  await core.log.reached(core.log.last)
  await runCreation(core, session)
  try {
    const { creationError } = session.head
    if (creationError) throw AhpError.conflict(creationError.message)
    return await moveTo(core, uri, session.uri)
  } catch (error) {
    // A client may have found the new session and used it. In that case the session stays.
    const unused = catalogOf(core).creatorOf(session.uri) !== undefined
    if (unused && core.log.channel(session.uri) === session) forgetSession(core, session)
    throw error
  }
}

/** A chat and its session. Throws if the chat cannot be moved now. */
function movableChat(
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

interface Transfer {
  readonly target: Channel<'session'>
  readonly from: Channel<'session'>
  readonly chat: Channel<'chat'>
  /** Number of chats that move: the chat and its workers. */
  readonly count: number
}

/** Throws unless the chat would keep its agent and its working directories in the target session. */
function checkTarget({ limits }: Core, { target, from, chat, count }: Transfer): void {
  const there = target.head
  const here = from.head
  const own = chat.head.workingDirectories
  if (there.lifecycle === 'failed') throw AhpError.conflict('that session could not be created')
  if (there.provider !== here.provider) throw AhpError.conflict('that session has another agent')
  const { workingDirectories: theirs = [] } = there
  const sameDirectories = own
    ? own.every((each) => theirs.includes(each))
    : equal(theirs, here.workingDirectories ?? [])
  if (!sameDirectories) throw AhpError.conflict('that session has other working directories')
  if (there.chats.length + count > limits.chats)
    throw AhpError.permissionDenied(`a session has at most ${limits.chats} chats`)
}

/** Removes chats from one session and adds them, with their terminals and stored content, to another, in the same step. */
function transfer(
  core: Core,
  from: Channel<'session'>,
  target: Channel<'session'>,
  chats: readonly ChatSummary[],
): void {
  for (const { resource: chat } of chats) append(core, from, { type: 'session/chatRemoved', chat })
  const commits = chats.map((summary) => {
    const commit = catalogOf(core).chatIndex.move(summary.resource, target.uri)
    append(core, target, { type: 'session/chatAdded', summary })
    for (const terminal of sessionResourcesOf(core).ofChat(summary.resource))
      moveTerminal(core, terminal, target.uri, summary.resource)
    return commit
  })
  contentRetentionOf(core).retain(target.uri, from.uri)
  const [first] = chats
  if (first && target.head.defaultChat === undefined) makeDefault(core, target, first)
  void core.log.reached(core.log.last).then(() => {
    for (const commit of commits) commit()
  })
}

/** Makes the first chat of a new session its default chat. The session takes over the chat's title. */
function makeDefault(core: Core, target: Channel<'session'>, { resource, title }: ChatSummary): void {
  append(core, target, { type: 'session/defaultChatChanged', defaultChat: resource })
  if (title !== '') append(core, target, { type: 'session/titleChanged', title })
  const chat = core.log.channel(resource, 'chat')
  if (!chat) return
  const movable = movableChange(target.head, chat.head)
  if (movable !== undefined) core.log.append(chat, { type: 'chat/movableChanged', movable })
}

/** Moves a chat's terminal to the chat's new session. The claim of an exited terminal is history, and is not changed. */
function moveTerminal(core: Core, uri: Uri, session: Uri, chat: Uri): void {
  const terminal = core.log.channel(uri, 'terminal')
  const claim = terminal?.head.lifecycle.status === 'running' ? terminal.head.claim : undefined
  if (terminal && claim?.kind === 'session')
    core.log.append(terminal, { type: 'terminal/claimed', claim: { ...claim, session } })
  else sessionResourcesOf(core).assign(uri, session, chat)
}

/**
 * A chat and the chats of its workers, which its tool calls have started, at any depth. They belong together, because
 * the turns of a chat refer to its workers' chats.
 */
function withWorkers(session: Channel<'session'>, uri: Uri): readonly ChatSummary[] {
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

function urisOf(chats: readonly ChatSummary[]): readonly Uri[] {
  return chats.map(({ resource }) => resource)
}

function newState(template: SessionState): SessionState {
  const { provider, workingDirectories, serverTools, customizations, config, project } = template
  return compact<SessionState>({
    provider,
    title: '',
    status: Activity.Idle,
    lifecycle: 'creating',
    activeClients: [],
    workingDirectories,
    serverTools,
    customizations,
    config,
    project,
    chats: [],
  })
}

/**
 * Loads a chat, its session and another session. Afterwards all of them that exist are in memory at the same time.
 */
async function wakeTogether(core: Core, chat: Uri, session: Uri): Promise<void> {
  for (let awake = false; !awake;) {
    const found = await Promise.all([chat, session].map((uri) => wake(core, uri)))
    awake = found.every((channel) => !channel || core.log.channel(channel.uri) === channel)
  }
}

function append(core: Core, channel: Channel, action: SessionAction | ChatAction): void {
  core.log.append(channel, action)
}
