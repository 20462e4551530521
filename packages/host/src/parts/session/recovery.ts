import type { ErrorPart, ResponsePart } from '@atrium/protocol/chat/state'
import { compact } from '@atrium/protocol/update'
import { agentFor } from '../agents/agents.ts'
import { isWritable, sessionOf } from '../../catalog/lookup.ts'
import { openRequests } from '../changes/waiting/open-requests.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { startTurn } from '../chat/start-turn.ts'
import { forgetCopies } from '../chat/copy-turns.ts'
import type { Core } from '../../kernel/core.ts'
import { runCreation } from './creation.ts'
import { nextAfterRestart } from '../chat/queued-messages.ts'
import { checkClientsPresent } from '../tools/client-tools.ts'
import type { Effects } from '../../kernel/rules.ts'
import { endShell } from '../terminal/terminal.ts'
import { wakeIfSound } from '../../channels/wake.ts'
import { releaseWatch } from '../resources/watch.ts'
import { recoverWorktrees } from '../worktrees/worktrees.ts'
import { cancelTurn, durationOf, isOrphaned, workerDepth } from '../chat/workers.ts'
import { part } from '../../kernel/part.ts'

/**
 * Finishes the work that an earlier run of the host left open, before the first client connects. A session whose
 * creation was interrupted is created again. A turn that waits only for users or client tools stays active. The turn
 * of a worker (an agent that does a task for the turn of another chat, its parent) stays active only while the
 * parent's turn is active. Every other turn ends with an error that says whether the turn can be resumed. Nothing
 * runs twice.
 */
export async function recover(core: Core): Promise<void> {
  await forgetCopies(core)
  if (core.readOnlyReason() !== undefined) return
  await recoverWorktrees(core)
  const sessions: Channel<'session'>[] = []
  const chats: Channel<'chat'>[] = []
  for (const uri of core.jobs.pending) {
    const channel = await wakeIfSound(core, uri)
    if (!channel) continue
    if (channel.is('session')) sessions.push(channel)
    else if (channel.is('chat')) chats.push(channel)
    else if (channel.is('terminal')) endShell(core, channel)
    else if (channel.is('resourceWatch')) releaseWatch(core, channel)
  }
  // The chats of workers come first, so that their turns end as interrupted. If the parent's turn ended first, the turns of its
  // workers would be shown as cancelled.
  for (const chat of deepestFirst(core, chats)) recoverChat(core, chat)
  // Sessions come last: a turn that waits for its session must be recovered before the session becomes ready.
  for (const session of sessions) recreateSession(core, session)
}

function deepestFirst(core: Core, chats: readonly Channel<'chat'>[]): readonly Channel<'chat'>[] {
  const depths = chats.map((chat) => {
    const session = sessionOf(core, chat.uri)?.head
    return { chat, depth: workerDepth(session?.chats ?? [], chat.uri) }
  })
  return depths.toSorted((a, b) => b.depth - a.depth).map(({ chat }) => chat)
}

function recreateSession(core: Core, session: Channel<'session'>): void {
  if (session.head.lifecycle === 'creating') void runCreation(core, session)
  else core.jobs.mark(session.uri, false)
}

function recoverChat(core: Core, chat: Channel<'chat'>): void {
  const state = chat.head
  const session = sessionOf(core, chat.uri)
  const lifecycle = session?.head.lifecycle
  const { activeTurn } = state
  if (!activeTurn) {
    for (const next of nextAfterRestart(state, core.world)) core.log.append(chat, next)
    if (!state.queuedMessages) core.jobs.mark(chat.uri, false)
    return
  }
  // The turn stays active if its agent has not started it, or if it waits only for users and client tools. The turn
  // of a worker is cancelled all the same if its parent has no active turn.
  if (lifecycle === 'creating' || waitsForAnswerOnly(activeTurn.responseParts))
    return isOrphaned(core, chat) ? cancelTurn(core, chat) : checkClientsPresent(core, session, chat)
  const resumable =
    session &&
    isWritable(session, chat.uri) &&
    agentFor(core, session.head.provider, activeTurn.message)?.resumes
  interrupt(core, chat, resumable === true)
}

/**
 * Runs when a request of a turn is answered. If the turn is from an earlier run of the host and this was its last
 * open request, the turn is resumed. If its agent cannot resume turns, the turn ends with an error.
 */
function answered(core: Core, chat: Channel<'chat'>, action: object): void {
  const session = sessionOf(core, chat.uri)
  const { activeTurn } = chat.committedState
  if (!session || !activeTurn || core.jobs.has(chat.uri) || waitsForAnswerOnly(activeTurn.responseParts))
    return
  // The turn of the request may have ended before this is committed, and the next one has begun. Its agent starts in a moment.
  const isOf = 'turnId' in action ? action.turnId : activeTurn.id
  if (isOf !== activeTurn.id || chat.head.activeTurn?.id !== activeTurn.id) return
  const { lifecycle, provider } = session.committedState
  if (lifecycle !== 'ready') return
  if (isWritable(session, chat.uri) && agentFor(core, provider, activeTurn.message)?.resumes)
    startTurn(core, chat)
  else interrupt(core, chat, false)
}

const answerEffects: Effects<'chat'> = {
  'chat/toolCallConfirmed': answered,
  'chat/toolCallResultConfirmed': answered,
  'chat/toolCallComplete': answered,
  'chat/toolCallAuthResolved': answered,
  'chat/inputCompleted': answered,
}

function interrupt(core: Core, chat: Channel<'chat'>, resumable: boolean): void {
  const { activeTurn } = chat.head
  if (!activeTurn) return
  const { id: turnId } = activeTurn
  const message = resumable
    ? 'The host was stopped while the agent worked on this. The turn can be resumed until another one begins.'
    : 'The host was stopped while the agent worked on this.'
  const part = compact<ErrorPart>({
    kind: 'error',
    error: { errorType: 'interrupted', message },
    resumable: resumable || undefined,
  })
  const duration = durationOf(core, activeTurn)
  core.log.append(chat, { type: 'chat/error', turnId, duration, part })
}

/** Whether a turn has open requests, and all of them are for users or client tools. */
function waitsForAnswerOnly(parts: readonly ResponsePart[]): boolean {
  const open = openRequests(parts)
  return open.length > 0 && open.every(({ waitsFor }) => waitsFor !== 'agent')
}

/** Turns of an earlier run that go on when their last request is answered. */
export const resumption = part({
  name: 'resumption',
  rules: { effects: [answerEffects] },
})
