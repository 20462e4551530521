import { catalogOf } from '../../catalog/catalog.ts'
import { ownersOf } from '../../catalog/owners.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatForkSource } from '@atrium/protocol/chat/commands'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { defaultChatUri } from '@atrium/protocol/uri'
import { agentOf } from '../agents/agents.ts'
import { requireSignIn, requireSignInNow } from '../auth/needed.ts'
import { isGone, setGone } from '../../channels/gone.ts'
import { changeable, isUsed } from '../../channels/names.ts'
import type { Mutation } from '../../channels/names.ts'
import { wake } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import { entryOf, sessionOf } from '../../catalog/lookup.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { attachmentProblem, pinnedMessage, wakeFor } from '../turn/pin.ts'
import { copyTurns, forgetCopy } from './copy-turns.ts'
import { originOf, sourceDirectories, sourceProblem } from './fork.ts'
import { addChat, firstState, newSummary, sendFirstMessage, tooManyChats } from './new-chat.ts'
import type { ChatOptions } from './new-chat.ts'
import { cancelWorkers } from './workers.ts'

export async function createChat(core: Core, params: Params<'createChat'>): Mutation {
  changeable(core)
  const { channel: uri, chat, initialMessage, source } = params
  const gone = await isGone(core, chat)
  const first = initialMessage && { type: 'chat/turnStarted', message: initialMessage }
  if (first) await wakeFor(core, first)
  await wake(core, uri)
  if (source && catalogOf(core).sessionOf(source.chat) === uri) await wake(core, source.chat)
  const waking = agentOf(core, sessionFor(core, uri).head.provider)
  if (waking?.missing) await requireSignInNow(core, waking, ownersOf(core).of(uri))
  // From here on nothing is awaited, so that nothing can change between the checks and the creation. The exception is
  // the copy for a fork. After the copy, the session is checked again.
  const session = sessionFor(core, uri)
  if (gone || isUsed(core, chat))
    throw AhpError.alreadyExists(`${JSON.stringify(chat.slice(0, 100))} is in use, or was used before`)
  const problem = creationProblem(core, session, params) ?? attachmentProblem(core, initialMessage)
  if (problem !== undefined) throw AhpError.invalidParams(`createChat: ${problem}`)
  const agent = agentOf(core, session.head.provider)
  if (agent) requireSignIn(core, agent, ownersOf(core).of(uri))
  const summary = newSummary(core, chat, optionsOf(core, session, params))
  const copied = source?.kind === 'fork' ? await fork(core, uri, source, summary) : undefined
  const added = addChat(core, sessionFor(core, uri), summary, copied)
  if (!initialMessage) return { seq: added.seq }
  return { seq: sendFirstMessage(core, added.chat, pinnedMessage(core, initialMessage)).seq }
}

/** Returns the session that a new chat is for. Throws if no chat can be added to it. */
function sessionFor(core: Core, uri: Uri): Channel<'session'> {
  const session = core.log.channel(uri, 'session')
  if (!session || !catalogOf(core).get(uri)) throw AhpError.sessionNotFound(uri)
  const { lifecycle, provider, chats } = session.head
  if (lifecycle === 'failed') throw AhpError.conflict('this session could not be created')
  const { multipleChats } = agentOf(core, provider)?.info.capabilities ?? {}
  if (!multipleChats) throw AhpError.invalidParams('createChat: this agent supports one chat per session')
  if (chats.length >= core.limits.chats) throw AhpError.permissionDenied(tooManyChats(core))
  return session
}

function creationProblem(
  core: Core,
  session: Channel<'session'>,
  { source, workingDirectories = [], initialMessage }: Params<'createChat'>,
): string | undefined {
  if (initialMessage && initialMessage.origin.kind !== 'user')
    return 'a client can only send messages of its user'
  const problem = source && sourceProblem(core, session, source)
  if (problem !== undefined || source?.kind === 'fork') return problem
  const { workingDirectories: allowed = [] } = session.head
  const outside = workingDirectories.find((directory) => !allowed.includes(directory))
  return outside === undefined
    ? undefined
    : `${JSON.stringify(outside)} is not a working directory of the session`
}

/** Returns the options of a new chat. A fork has the title and the directories of its source. */
function optionsOf(
  core: Core,
  session: Channel<'session'>,
  { source, workingDirectories }: Params<'createChat'>,
): ChatOptions {
  const forked = source?.kind === 'fork'
  const inherited = source && sourceDirectories(core, source)
  return {
    title: (forked && entryOf(session, source.chat)?.title) || '',
    origin: originOf(source),
    movable: true,
    workingDirectories: forked ? inherited : (workingDirectories ?? inherited),
  }
}

/**
 * Copies the turns of the source chat to a channel that clients do not see yet. The session may change during the
 * copy, so it is checked again afterwards.
 */
async function fork(
  core: Core,
  session: Uri,
  { chat, turnId }: ChatForkSource,
  summary: ChatSummary,
): Promise<Channel<'chat'>> {
  const from = core.log.channel(chat, 'chat')
  if (!from) throw AhpError.notFound('the source chat was disposed of')
  const copied = await copyTurns(core, from, turnId, firstState(summary))
  try {
    changeable(core)
    sessionFor(core, session)
    return copied
  } catch (error) {
    forgetCopy(core, copied.uri)
    throw error
  }
}

export async function disposeChat(core: Core, { channel: uri }: Params<'disposeChat'>): Mutation {
  changeable(core)
  const chat = await wake(core, uri)
  const session = sessionOf(core, uri)
  if (!chat?.is('chat') || !session || core.log.channel(uri) !== chat)
    throw AhpError.notFound(`no chat ${JSON.stringify(uri.slice(0, 200))}`)
  const { chats, inputNeeded = [] } = session.head
  if (chats.length === 1)
    throw AhpError.conflict('the only chat of a session cannot be disposed of: dispose of its session')
  forgetChat(core, uri)
  cancelWorkers(core, session, uri)
  for (const { id } of inputNeeded.filter((request) => request.chat === uri))
    core.log.append(session, { type: 'session/inputNeededRemoved', id })
  const { last } = core.log.append(session, { type: 'session/chatRemoved', chat: uri })
  return { seq: last }
}

/**
 * Drops the channel of a chat, in the transaction that removes the chat from its session or disposes of the session.
 * The channel of a damaged chat is not in memory, so it stays on the disk. `session` is given if the session is
 * disposed of.
 */
export function forgetChat(core: Core, uri: Uri, session?: Uri): void {
  // `setGone` records a used URI, so that no other chat gets it. The URI of a default chat is computed from the session's
  // URI, which is recorded itself.
  if (session === undefined || uri !== defaultChatUri(session)) setGone(core, uri)
  core.sealing.freed()
  catalogOf(core).chatIndex.forget(uri)
  changesOf(core)?.forgotten(uri)
  const chat = core.log.channel(uri)
  if (chat) core.log.drop(chat)
  core.jobs.stop(uri)
  core.jobs.mark(uri, false)
}
