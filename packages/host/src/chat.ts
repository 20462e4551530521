import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { Message } from '@atrium/protocol/chat/message'
import type { ChatInteractivity, ChatOrigin, ChatState, ChatSummary } from '@atrium/protocol/chat/state'
import type { Params } from '@atrium/protocol/commands'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { AhpError } from '@atrium/protocol/errors'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState } from '@atrium/protocol/session/state'
import { Activity } from '@atrium/protocol/status'
import { compact } from '@atrium/protocol/update'
import { chatUri } from '@atrium/protocol/uri'
import { agentFor, agentOf, noAgent } from './agents.ts'
import { sessionOf } from './alongside.ts'
import { signedIn, turnedAway } from './auth.ts'
import type { Channel } from './channel.ts'
import { changeable, goneKey, isUsed } from './change.ts'
import type { Done } from './change.ts'
import type { Core } from './core.ts'
import { attachmentProblem, pinnedMessage, wakeFor } from './pin.ts'
import type { Task } from './ports/agent.ts'
import { TurnFailed } from './ports/agent.ts'
import { followGit } from './project.ts'
import { rest } from './rest.ts'
import type { Effects } from './rules.ts'
import { Turn } from './turn.ts'
import { wake } from './wake.ts'
import { depth, dismiss } from './workers.ts'

export async function createChat(core: Core, params: Params<'createChat'>): Done {
  changeable(core)
  const { channel: uri, chat, initialMessage, source, workingDirectories } = params
  const gone = await core.records.get(goneKey(chat))
  const first = initialMessage && { type: 'chat/turnStarted', message: initialMessage }
  if (first) await wakeFor(core, first)
  const session = await wake(core, uri)
  // From here on nothing waits: the checks and the birth are one step.
  if (session?.kind.name !== 'session' || !core.catalog.get(uri)) throw AhpError.sessionNotFound(uri)
  const state = session.head as SessionState
  if (gone !== undefined || isUsed(core, chat))
    throw AhpError.alreadyExists(`${JSON.stringify(chat.slice(0, 100))} is in use, or was`)
  if (state.lifecycle === 'failed') throw AhpError.conflict('this session could not be created')
  const agent = agentOf(core, state.provider)
  const { multipleChats } = agent?.info.capabilities ?? {}
  if (!multipleChats) throw AhpError.invalidParams('createChat: this agent has one chat in a session')
  if (source) throw AhpError.invalidParams('createChat: this agent cannot begin a chat from another')
  if (state.chats.length >= core.limits.chats) throw AhpError.permissionDenied(tooMany(core))
  const strange = workingDirectories?.find((directory) => !state.workingDirectories?.includes(directory))
  if (strange !== undefined)
    throw AhpError.invalidParams(`createChat: ${JSON.stringify(strange)} is no directory of the session`)
  if (initialMessage && initialMessage.origin.kind !== 'user')
    throw AhpError.invalidParams('createChat: a client can only send messages of its user')
  const problem = first && attachmentProblem(core, first)
  if (problem !== undefined) throw AhpError.invalidParams(`createChat: ${problem}`)
  if (agent) signedIn(core, agent, core.owners.of(uri))
  const summary = newSummary(core, chat, { origin: { kind: 'user' }, workingDirectories })
  const seq = bear(core, session, summary)
  const born = core.log.channel(chat)
  return { seq: born && initialMessage ? start(core, born, pinnedMessage(core, initialMessage)).seq : seq }
}

export async function disposeChat(core: Core, { channel: uri }: Params<'disposeChat'>): Done {
  changeable(core)
  const chat = await wake(core, uri)
  const session = sessionOf(core, uri)
  if (chat?.kind.name !== 'chat' || !session || core.log.channel(uri) !== chat)
    throw AhpError.notFound(`no chat ${JSON.stringify(uri.slice(0, 200))}`)
  const { defaultChat, inputNeeded = [] } = session.head as SessionState
  if (defaultChat === uri) throw AhpError.conflict('the default chat goes with its session: dispose of that')
  forgetChat(core, uri)
  dismiss(core, session, uri)
  for (const { id } of inputNeeded.filter((request) => request.chat === uri))
    core.log.append(session, { type: 'session/inputNeededRemoved', id } as SessionAction)
  const { last } = core.log.append(session, { type: 'session/chatRemoved', chat: uri } as SessionAction)
  return { seq: last }
}

/**
 * Part of a step that removes a chat from its session, or the session with it. One that cannot be trusted any more is not
 * in memory, and stays on the disk.
 */
export function forgetChat(core: Core, uri: Uri): void {
  core.records.put(goneKey(uri), '')
  core.catalog.forget(uri)
  const chat = core.log.channel(uri)
  if (chat) core.log.drop(chat)
  core.work.stop(uri)
  core.work.mark(uri, false)
}

/** A chat's first state is its entry in the catalogue, and no turns. */
export function newChat(core: Core, session: Uri, summary: ChatSummary): Channel {
  core.catalog.belongs(summary.resource, session)
  const chat = core.log.born(summary.resource, 'chat', { ...summary, turns: [] } satisfies ChatState)
  rest(core, chat)
  return chat
}

interface About {
  readonly title?: string
  readonly origin: ChatOrigin
  readonly interactivity?: ChatInteractivity
  readonly workingDirectories?: readonly Uri[] | undefined
}

export function newSummary(core: Core, resource: Uri, { title = '', ...about }: About): ChatSummary {
  const modifiedAt = new Date(core.world.now()).toISOString()
  return compact<ChatSummary>({ resource, title, status: Activity.Idle, modifiedAt, ...about })
}

export const chatEffects: Effects<ChatAction> = {
  'chat/turnStarted': (core, chat) => begin(core, chat),
  'chat/turnResume': (core, chat) => begin(core, chat),
  'chat/turnComplete': ended,
  'chat/turnCancelled': ended,
  'chat/error': ended,
}

/** An agent may have changed the tree that it worked in. */
function ended(core: Core, chat: Channel): void {
  const session = sessionOf(core, chat.uri)
  if (session) followGit(core, session)
}

/** An agent begins with a chat's turn, once everyone knows of it and the session is ready. */
export function begin(core: Core, chat: Channel): void {
  const session = sessionOf(core, chat.uri)
  const { activeTurn } = chat.told as ChatState
  // Else it was ended, or ended and begun again, before anybody was told of it. Its message is what does not change.
  const due = activeTurn && activeTurn.message === (chat.head as ChatState).activeTurn?.message
  if (!session || !due || core.work.has(chat.uri) || core.log.channel(chat.uri) !== chat) return
  const { lifecycle, provider } = session.told as SessionState
  if (lifecycle !== 'ready') return
  const agent = agentFor(core, provider, activeTurn.message)
  if (!agent) return abandon(core, chat, activeTurn.id, noAgent(provider))
  if (turnedAway(core, chat, session, agent)) return
  const turn = new Turn(core, chat, session, agent, spawn)
  core.work.begin(chat.uri, turn)
  void turn.run()
}

/** Ends a turn that no agent has begun with. */
export function abandon(core: Core, chat: Channel, turnId: string, error: ErrorInfo): void {
  const part = { kind: 'error', error } as const
  core.log.append(chat, { type: 'chat/error', turnId, duration: 0, part } as ChatAction)
}

/** A worker's chat: watched by people, written in by its agent. It ends with the turn that wanted it. */
function spawn(core: Core, parent: Channel, { toolCallId, title, text }: Task) {
  const session = sessionOf(core, parent.uri)
  if (!session) throw new Error('the session is gone')
  const { chats } = session.head as SessionState
  if (chats.length >= core.limits.chats) throw new TurnFailed('workers', tooMany(core))
  // A guard against workers that let workers work, for ever.
  if (depth(chats, parent.uri) >= core.limits.nesting)
    throw new TurnFailed('workers', `workers let others work at most ${core.limits.nesting} deep`)
  const origin = { kind: 'tool', chat: parent.uri, toolCallId } as const
  const { workingDirectories } = parent.head as ChatState
  const about = { title, origin, interactivity: 'read-only' as const, workingDirectories }
  const summary = newSummary(core, chatUri(core.world.id()), about)
  bear(core, session, summary)
  const worker = core.log.channel(summary.resource) as Channel
  const { turnId } = start(core, worker, { text, origin: { kind: 'agent' } })
  return { worker, turnId }
}

function tooMany({ limits }: Core): string {
  return `a session has at most ${limits.chats} chats`
}

function bear(core: Core, session: Channel, summary: ChatSummary): number {
  newChat(core, session.uri, summary)
  return core.log.append(session, { type: 'session/chatAdded', summary } as SessionAction).last
}

function start(core: Core, chat: Channel, message: Message): { seq: number; turnId: string } {
  const turnId = core.world.id()
  const startedAt = new Date(core.world.now()).toISOString()
  const action: ChatAction = { type: 'chat/turnStarted', turnId, startedAt, message }
  return { seq: core.log.append(chat, action).last, turnId }
}
