import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState, ErrorPart, ResponsePart } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { compact } from '@atrium/protocol/update'
import { agentOf } from './agents.ts'
import { entryOf, sessionOf } from './alongside.ts'
import type { Channel } from './channel.ts'
import type { Core } from './core.ts'
import { create } from './creation.ts'
import { nextAtStart } from './pending.ts'
import { rest } from './rest.ts'
import { wakeIfSound } from './wake.ts'

/**
 * What the life before left undone, before anybody is let in: a session that was being made is made again, a turn that
 * only waits for people goes on waiting, any other ends as an error that says whether it can go on. Nothing runs twice.
 */
export async function goOn(core: Core): Promise<void> {
  if (core.unchangeable() !== undefined) return
  const channels: Channel[] = []
  for (const uri of core.work.pending) {
    const channel = await wakeIfSound(core, uri)
    if (channel) channels.push(channel)
  }
  // A session that is ready in no time must not look as if its turns had begun before.
  for (const channel of channels) if (channel.kind.name === 'chat') settle(core, channel)
  for (const channel of channels) if (channel.kind.name === 'session') remake(core, channel)
  for (const channel of channels) rest(core, channel)
}

function remake(core: Core, session: Channel): void {
  if ((session.head as SessionState).lifecycle === 'creating') void create(core, session)
  else core.work.mark(session.uri, false)
}

function settle(core: Core, chat: Channel): void {
  const state = chat.head as ChatState
  const session = sessionOf(core, chat.uri)
  const { lifecycle, provider = '' } = (session?.head ?? {}) as Partial<SessionState>
  const { activeTurn } = state
  if (!activeTurn) {
    for (const next of nextAtStart(state, core.world)) core.log.append(chat, next)
    if (!state.queuedMessages) core.work.mark(chat.uri, false)
    return
  }
  // It has not begun, or nobody but a person has to do with it now.
  if (lifecycle === 'creating' || onlyAsks(activeTurn.responseParts)) return
  const { id: turnId, startedAt } = activeTurn
  const { interactivity = 'full' } = (session && entryOf(session, chat.uri)) ?? {}
  const resumable = interactivity === 'full' && agentOf(core, provider)?.resumes
  const message = resumable
    ? 'The host was stopped while the agent worked on this. It can go on where it was.'
    : 'The host was stopped while the agent worked on this.'
  const part = compact<ErrorPart>({
    kind: 'error',
    error: { errorType: 'interrupted', message },
    resumable: resumable || undefined,
  })
  const duration = Math.max(0, core.world.now() - Date.parse(startedAt)) || 0
  core.log.append(chat, { type: 'chat/error', turnId, duration, part } as ChatAction)
}

/** Whether all that is open in a turn is a question to a person, or a tool that a client runs. */
function onlyAsks(parts: readonly ResponsePart[]): boolean {
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
