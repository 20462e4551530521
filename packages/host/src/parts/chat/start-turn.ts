import { machinesOf } from '../../catalog/machines.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Message } from '@atrium/protocol/chat/message'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { compact } from '@atrium/protocol/update'
import { chatUri } from '@atrium/protocol/uri'
import { agentFor, noAgent, setAgents } from '../agents/agents.ts'
import { syncCustomizations, syncTools } from '../agents/customizations.ts'
import { failWithoutToken } from '../auth/needed.ts'
import type { Core } from '../../kernel/core.ts'
import { sessionOf } from '../../catalog/lookup.ts'
import type { Effects } from '../../kernel/rules.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Task } from '../../ports/agent.ts'
import { TurnFailed } from '../../ports/agent.ts'
import { commentingOf } from '../../catalog/commenting.ts'
import { followGit } from '../resources/project.ts'
import { splitAt } from '../turn/output-text.ts'
import { Turn } from '../turn/turn.ts'
import { addChat, newSummary, sendFirstMessage, tooManyChats } from './new-chat.ts'
import { workerDepth } from './workers.ts'

export const chatEffects: Effects<'chat'> = {
  'chat/turnStarted': (core, chat) => startTurn(core, chat),
  'chat/turnResume': (core, chat) => startTurn(core, chat),
  'chat/turnComplete': turnEnded,
  'chat/turnCancelled': turnEnded,
  'chat/error': turnEnded,
}

/**
 * Reads the git status and the files with comments again: the agent may have changed them. Publishes what the turn has shown
 * about its agent, for example that nobody is signed in.
 */
function turnEnded(core: Core, chat: Channel<'chat'>): void {
  setAgents(core)
  const session = sessionOf(core, chat.uri)
  if (!session) return
  followGit(core, session)
  void commentingOf(core).followTexts(session.uri)
}

/** Runs the agent for a chat's active turn, once the start of the turn is committed and the session is ready. */
export function startTurn(core: Core, chat: Channel<'chat'>): void {
  const session = sessionOf(core, chat.uri)
  const { activeTurn } = chat.committedState
  // Uncommitted actions may have ended this turn, and may have started another. The message object tells turns apart.
  const due = activeTurn && activeTurn.message === chat.head.activeTurn?.message
  if (!session || !due || core.jobs.has(chat.uri) || core.log.channel(chat.uri) !== chat) return
  const { lifecycle, provider } = session.committedState
  if (lifecycle !== 'ready') return
  const agent = agentFor(core, provider, activeTurn.message)
  if (!agent) return failTurn(core, chat, activeTurn.id, noAgent(provider))
  const problem = elsewhere(core, session.uri)
  if (problem) return failTurn(core, chat, activeTurn.id, problem)
  if (failWithoutToken(core, chat, session, agent)) return
  // The shell agent may do a turn of any session. It has no customizations and no tools.
  if (agent.info.provider === provider) {
    syncCustomizations(core, session, agent)
    syncTools(core, session, agent)
  }
  const turn = new Turn({ core, chat, session, agent, spawn })
  core.jobs.begin(chat.uri, turn)
  void turn.run()
}

/** The error of work in the folders of a session that are on another machine (L44). */
export function elsewhere(core: Core, session: Uri): ErrorInfo | undefined {
  const message = machinesOf(core).problem(session)
  return message === undefined ? undefined : { errorType: 'elsewhere', message }
}

/** Ends a turn that no agent has started to work on. */
export function failTurn(core: Core, chat: Channel<'chat'>, turnId: string, error: ErrorInfo): void {
  const part = { kind: 'error', error } as const
  core.log.append(chat, { type: 'chat/error', turnId, duration: 0, part })
}

/**
 * Creates the chat of a worker (an agent that does a task of the turn in `parent`) and starts its turn. Users can
 * read the chat, but cannot write in it.
 */
function spawn(core: Core, parent: Channel<'chat'>, { toolCallId, title, text, model }: Task) {
  const session = sessionOf(core, parent.uri)
  if (!session) throw new Error('the session is gone')
  const { chats } = session.head
  if (chats.length >= core.limits.chats) throw new TurnFailed('workers', tooManyChats(core))
  // Workers may spawn workers: without a limit they could do so for ever.
  if (workerDepth(chats, parent.uri) >= core.limits.nesting)
    throw new TurnFailed('workers', `workers can be nested at most ${core.limits.nesting} deep`)
  // The task becomes the message of a turn, which is part of the state of the worker's chat. So the limit for states
  // holds for the task.
  const max = core.limits.stateLength
  if (text.length > max || JSON.stringify(text).length > max)
    throw new TurnFailed('full', `The task of a worker may have at most ${max} characters.`)
  const origin = { kind: 'tool', chat: parent.uri, toolCallId } as const
  const { workingDirectories } = parent.head
  const [shortTitle] = splitAt(title, titleLength)
  const options = { title: shortTitle, origin, interactivity: 'read-only' as const, workingDirectories }
  const summary = newSummary(core, chatUri(core.world.id()), options)
  const { chat: worker } = addChat(core, session, summary)
  const message = compact<Message>({ text, origin: { kind: 'agent' }, model })
  const { turnId } = sendFirstMessage(core, worker, message)
  return { worker, turnId }
}

/**
 * The maximum number of characters in the title of a worker's chat. The state of the session contains the titles of
 * all its chats, so they must be short.
 */
const titleLength = 80
