import type { ErrorPart, ResponsePart } from '@atrium/protocol/chat/state'
import { compact } from '@atrium/protocol/update'
import { agentFor } from './agents/agents.ts'
import { isWritable, sessionOf } from './core/lookup.ts'
import type { Channel } from './log/channel.ts'
import { startTurn } from './chat/chat.ts'
import { forgetCopies } from './chat/copy-turns.ts'
import type { Core } from './core/core.ts'
import { create } from './session/creation.ts'
import { nextAtStart } from './chat/queued-messages.ts'
import { checkClientsPresent } from './tools/client-tools.ts'
import type { Effects } from './core/rules.ts'
import { endShell } from './terminal/terminal.ts'
import { wakeIfSound } from './channels/wake.ts'
import { releaseWatch } from './resources/watch.ts'
import { cancel, depth, isDisposable, lasted } from './chat/workers.ts'

/**
 * What the life before left undone, before anybody is let in: a session that was being made is made again, a turn that
 * only waits for people goes on waiting, and a worker's with the one it works for; any other ends as an error that says
 * whether it can go on. Nothing runs twice.
 */
export async function recover(core: Core): Promise<void> {
  await forgetCopies(core)
  if (core.readOnlyReason() !== undefined) return
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
  // Workers first: what one was at work on was interrupted, and not only unwanted from now on.
  for (const chat of deepestFirst(core, chats)) settle(core, chat)
  // Only now: a turn that waits for its session must not find it ready before it is looked at.
  for (const session of sessions) recreateSession(core, session)
}

function deepestFirst(core: Core, chats: readonly Channel<'chat'>[]): readonly Channel<'chat'>[] {
  const depths = chats.map((chat) => {
    const session = sessionOf(core, chat.uri)?.head
    return { chat, depth: depth(session?.chats ?? [], chat.uri) }
  })
  return depths.toSorted((a, b) => b.depth - a.depth).map(({ chat }) => chat)
}

function recreateSession(core: Core, session: Channel<'session'>): void {
  if (session.head.lifecycle === 'creating') void create(core, session)
  else core.jobs.mark(session.uri, false)
}

function settle(core: Core, chat: Channel<'chat'>): void {
  const state = chat.head
  const session = sessionOf(core, chat.uri)
  const lifecycle = session?.head.lifecycle
  const { activeTurn } = state
  if (!activeTurn) {
    for (const next of nextAtStart(state, core.world)) core.log.append(chat, next)
    if (!state.queuedMessages) core.jobs.mark(chat.uri, false)
    return
  }
  // It has not begun, or nobody but a person has to do with it now.
  if (lifecycle === 'creating' || waitsForAnswerOnly(activeTurn.responseParts))
    return isDisposable(core, chat) ? cancel(core, chat) : checkClientsPresent(core, session, chat)
  const resumable =
    session &&
    isWritable(session, chat.uri) &&
    agentFor(core, session.head.provider, activeTurn.message)?.resumes
  interrupt(core, chat, resumable === true)
}

/** A question was answered: where it was the last of a turn that a life before this began, the agent takes it up again. */
function answered(core: Core, chat: Channel<'chat'>): void {
  const session = sessionOf(core, chat.uri)
  const { activeTurn } = chat.committedState
  if (!session || !activeTurn || core.jobs.has(chat.uri) || waitsForAnswerOnly(activeTurn.responseParts))
    return
  const { lifecycle, provider } = session.committedState
  if (lifecycle !== 'ready') return
  if (isWritable(session, chat.uri) && agentFor(core, provider, activeTurn.message)?.resumes)
    startTurn(core, chat)
  else interrupt(core, chat, false)
}

export const answerEffects: Effects<'chat'> = {
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
    ? 'The host was stopped while the agent worked on this. It can go on where it was.'
    : 'The host was stopped while the agent worked on this.'
  const part = compact<ErrorPart>({
    kind: 'error',
    error: { errorType: 'interrupted', message },
    resumable: resumable || undefined,
  })
  const duration = lasted(core, activeTurn)
  core.log.append(chat, { type: 'chat/error', turnId, duration, part })
}

/** Whether all that is open in a turn is a question to a person, or a tool that a client runs. */
function waitsForAnswerOnly(parts: readonly ResponsePart[]): boolean {
  const open = parts.flatMap((part) => {
    if (part.kind === 'inputRequest') return part.response === undefined ? ['asks'] : []
    if (part.kind !== 'toolCall') return []
    const { status, contributor } = part.toolCall
    if (status === 'completed' || status === 'cancelled') return []
    const asks = questions.has(status) || (status === 'running' && contributor?.kind === 'client')
    return [asks ? 'asks' : 'works']
  })
  return open.length > 0 && open.every((each) => each === 'asks')
}

const questions = new Set(['pending-confirmation', 'pending-result-confirmation', 'auth-required'])
