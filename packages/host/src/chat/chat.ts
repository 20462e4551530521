import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatForkSource } from '@atrium/protocol/chat/commands'
import type { Message } from '@atrium/protocol/chat/message'
import type { ChatInteractivity, ChatOrigin, ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { Params } from '@atrium/protocol/commands'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { AhpError } from '@atrium/protocol/errors'
import { Activity } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { chatUri } from '@atrium/protocol/uri'
import { agentFor, agentOf, noAgent } from '../agents/agents.ts'
import { entryOf, sessionOf } from '../core/lookup.ts'
import { requireSignIn, failWithoutToken } from '../auth/auth.ts'
import type { Channel } from '../log/channel.ts'
import { changeable, goneKey, isUsed } from '../channels/names.ts'
import type { Mutation } from '../channels/names.ts'
import { copyTurns, forgetCopy, publishCopy } from './copy-turns.ts'
import type { Core } from '../core/core.ts'
import { attachmentProblem, pinnedMessage, wakeFor } from '../turn/pin.ts'
import { syncCustomizations } from '../agents/customizations.ts'
import { directoriesOf, originOf, sourceProblem } from './fork.ts'
import type { Task } from '../ports/agent.ts'
import { TurnFailed } from '../ports/agent.ts'
import { followGit } from '../resources/project.ts'
import { sleepWhenIdle } from '../channels/sleep.ts'
import type { Effects } from '../core/rules.ts'
import { Turn } from '../turn/turn.ts'
import { wake } from '../channels/wake.ts'
import { depth, disposeWorkers } from './workers.ts'

export async function createChat(core: Core, params: Params<'createChat'>): Mutation {
  changeable(core)
  const { channel: uri, chat, initialMessage, source } = params
  const gone = await core.records.get(goneKey(chat))
  const first = initialMessage && { type: 'chat/turnStarted', message: initialMessage }
  if (first) await wakeFor(core, first)
  await wake(core, uri)
  if (source && core.catalog.sessionOf(source.chat) === uri) await wake(core, source.chat)
  // From here on nothing waits: the checks and the birth are one step.
  const session = sessionFor(core, uri)
  if (gone !== undefined || isUsed(core, chat))
    throw AhpError.alreadyExists(`${JSON.stringify(chat.slice(0, 100))} is in use, or was`)
  const problem = creationProblem(core, session, params) ?? (first && attachmentProblem(core, first))
  if (problem !== undefined) throw AhpError.invalidParams(`createChat: ${problem}`)
  const agent = agentOf(core, session.head.provider)
  if (agent) requireSignIn(core, agent, core.owners.of(uri))
  const summary = newSummary(core, chat, about(core, session, params))
  const copied = source?.kind === 'fork' ? await fork(core, uri, source, summary) : undefined
  const added = addChat(core, sessionFor(core, uri), summary, copied)
  if (!initialMessage) return { seq: added.seq }
  return { seq: start(core, added.chat, pinnedMessage(core, initialMessage)).seq }
}

/** The session, if one more chat may be born there now. */
function sessionFor(core: Core, uri: Uri): Channel<'session'> {
  const session = core.log.channel(uri, 'session')
  if (!session || !core.catalog.get(uri)) throw AhpError.sessionNotFound(uri)
  const { lifecycle, provider, chats } = session.head
  if (lifecycle === 'failed') throw AhpError.conflict('this session could not be created')
  const { multipleChats } = agentOf(core, provider)?.info.capabilities ?? {}
  if (!multipleChats) throw AhpError.invalidParams('createChat: this agent has one chat in a session')
  if (chats.length >= core.limits.chats) throw AhpError.permissionDenied(tooMany(core))
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
  const { workingDirectories: those = [] } = session.head
  const strange = workingDirectories.find((directory) => !those.includes(directory))
  return strange === undefined ? undefined : `${JSON.stringify(strange)} is no directory of the session`
}

/** A fork is called as its source is, and works where that does. */
function about(
  core: Core,
  session: Channel<'session'>,
  { source, workingDirectories }: Params<'createChat'>,
): About {
  const forked = source?.kind === 'fork'
  const inherited = source && directoriesOf(core, source)
  return {
    title: (forked && entryOf(session, source.chat)?.title) || '',
    origin: originOf(source),
    movable: true,
    workingDirectories: forked ? inherited : (workingDirectories ?? inherited),
  }
}

/** The turns of a fork are on the disk before anybody hears of it. Meanwhile anything may have happened to its session. */
async function fork(
  core: Core,
  session: Uri,
  { chat, turnId }: ChatForkSource,
  summary: ChatSummary,
): Promise<Channel<'chat'>> {
  const from = core.log.channel(chat, 'chat')
  if (!from) throw AhpError.notFound('the chat to fork is gone')
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
  const { defaultChat, inputNeeded = [] } = session.head
  if (defaultChat === uri) throw AhpError.conflict('the default chat goes with its session: dispose of that')
  forgetChat(core, uri)
  disposeWorkers(core, session, uri)
  for (const { id } of inputNeeded.filter((request) => request.chat === uri))
    core.log.append(session, { type: 'session/inputNeededRemoved', id })
  const { last } = core.log.append(session, { type: 'session/chatRemoved', chat: uri })
  return { seq: last }
}

/**
 * Part of a step that removes a chat from its session, or the session with it. One that cannot be trusted any more is not
 * in memory, and stays on the disk.
 */
export function forgetChat(core: Core, uri: Uri): void {
  core.records.put(goneKey(uri), '')
  core.catalog.chatIndex.forget(uri)
  const chat = core.log.channel(uri)
  if (chat) core.log.drop(chat)
  core.jobs.stop(uri)
  core.jobs.mark(uri, false)
}

/** A chat's first state is its entry in the catalogue, and no turns. One that has some from the beginning is there already. */
export function newChat(
  core: Core,
  session: Uri,
  summary: ChatSummary,
  copied?: Channel<'chat'>,
): Channel<'chat'> {
  core.catalog.chatIndex.add(summary.resource, session)
  if (copied) return publishCopy(core, copied)
  const chat = core.log.create(summary.resource, 'chat', firstState(summary))
  sleepWhenIdle(core, chat)
  return chat
}

function firstState(summary: ChatSummary): ChatState {
  return { ...summary, turns: [] }
}

interface About {
  readonly title?: string
  readonly origin: ChatOrigin
  readonly interactivity?: ChatInteractivity
  readonly movable?: boolean
  readonly workingDirectories?: readonly Uri[] | undefined
}

export function newSummary(core: Core, resource: Uri, { title = '', ...about }: About): ChatSummary {
  const modifiedAt = new Date(core.world.now()).toISOString()
  return compact<ChatSummary>({ resource, title, status: Activity.Idle, modifiedAt, ...about })
}

export const chatEffects: Effects<'chat'> = {
  'chat/turnStarted': (core, chat) => startTurn(core, chat),
  'chat/turnResume': (core, chat) => startTurn(core, chat),
  'chat/turnComplete': ended,
  'chat/turnCancelled': ended,
  'chat/error': ended,
}

/** An agent may have changed the tree that it worked in. */
function ended(core: Core, chat: Channel<'chat'>): void {
  const session = sessionOf(core, chat.uri)
  if (session) followGit(core, session)
}

/** An agent begins with a chat's turn, once everyone knows of it and the session is ready. */
export function startTurn(core: Core, chat: Channel<'chat'>): void {
  const session = sessionOf(core, chat.uri)
  const { activeTurn } = chat.committedState
  // Else it was ended, or ended and begun again, before anybody was told of it. Its message is what does not change.
  const due = activeTurn && activeTurn.message === chat.head.activeTurn?.message
  if (!session || !due || core.jobs.has(chat.uri) || core.log.channel(chat.uri) !== chat) return
  const { lifecycle, provider } = session.committedState
  if (lifecycle !== 'ready') return
  const agent = agentFor(core, provider, activeTurn.message)
  if (!agent) return failTurn(core, chat, activeTurn.id, noAgent(provider))
  if (failWithoutToken(core, chat, session, agent)) return
  // The shell, which has nothing, may do a turn of any session.
  if (agent.info.provider === provider) syncCustomizations(core, session, agent)
  const turn = new Turn(core, chat, session, agent, spawn)
  core.jobs.begin(chat.uri, turn)
  void turn.run()
}

/** Ends a turn that no agent has begun with. */
export function failTurn(core: Core, chat: Channel<'chat'>, turnId: string, error: ErrorInfo): void {
  const part = { kind: 'error', error } as const
  core.log.append(chat, { type: 'chat/error', turnId, duration: 0, part })
}

/** A worker's chat: watched by people, written in by its agent. It ends with the turn that wanted it. */
function spawn(core: Core, parent: Channel<'chat'>, { toolCallId, title, text, model }: Task) {
  const session = sessionOf(core, parent.uri)
  if (!session) throw new Error('the session is gone')
  const { chats } = session.head
  if (chats.length >= core.limits.chats) throw new TurnFailed('workers', tooMany(core))
  // A guard against workers that let workers work, for ever.
  if (depth(chats, parent.uri) >= core.limits.nesting)
    throw new TurnFailed('workers', `workers let others work at most ${core.limits.nesting} deep`)
  const origin = { kind: 'tool', chat: parent.uri, toolCallId } as const
  const { workingDirectories } = parent.head
  const about = { title, origin, interactivity: 'read-only' as const, workingDirectories }
  const summary = newSummary(core, chatUri(core.world.id()), about)
  const { chat: worker } = addChat(core, session, summary)
  const message = compact<Message>({ text, origin: { kind: 'agent' }, model })
  const { turnId } = start(core, worker, message)
  return { worker, turnId }
}

function tooMany({ limits }: Core): string {
  return `a session has at most ${limits.chats} chats`
}

function addChat(
  core: Core,
  session: Channel<'session'>,
  summary: ChatSummary,
  copied?: Channel<'chat'>,
): { readonly chat: Channel<'chat'>; readonly seq: number } {
  const chat = newChat(core, session.uri, summary, copied)
  return { chat, seq: core.log.append(session, { type: 'session/chatAdded', summary }).last }
}

function start(core: Core, chat: Channel<'chat'>, message: Message): { seq: number; turnId: string } {
  const turnId = core.world.id()
  const startedAt = new Date(core.world.now()).toISOString()
  const action: ChatAction = { type: 'chat/turnStarted', turnId, startedAt, message }
  return { seq: core.log.append(chat, action).last, turnId }
}
