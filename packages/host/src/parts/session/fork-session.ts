import type { Uri } from '@atrium/protocol/channel'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import type { SessionOrigin } from '@atrium/protocol/session/state'
import { agentOf } from '../agents/agents.ts'
import { copyTurns, forgetCopy } from '../chat/copy-turns.ts'
import { firstState } from '../chat/new-chat.ts'
import type { ChatOptions } from '../chat/new-chat.ts'
import type { Core } from '../../kernel/core.ts'
import { entryOf, sessionOf } from '../../catalog/lookup.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Selection } from './selection.ts'

/** The source of a new session's first turns: the turns of another session's chat, up to and including one turn. */
export interface SessionFork {
  readonly chat: Uri
  readonly turnId: string
}

/**
 * What is not in the params of a new session. A client of an older version may choose the turns to begin with, a model and an
 * agent. The host itself gives the session an origin.
 */
export interface SessionSource {
  readonly fork?: SessionFork
  readonly selection?: Selection
  readonly origin?: SessionOrigin
  /** Called in the step that creates the session. */
  readonly begun?: (session: Channel<'session'>, chat: Channel<'chat'>) => void
}

/** The title and the origin of the default chat of a new session. A fork has the title of its source. */
export function defaultChatOptions(core: Core, fork: SessionFork | undefined): ChatOptions {
  if (!fork) return { origin: { kind: 'user' } }
  const source = sessionOf(core, fork.chat)
  return { title: (source && entryOf(source, fork.chat)?.title) ?? '', origin: { kind: 'fork', ...fork } }
}

/**
 * Copies the turns for a new session into its default chat, which nobody can find yet. `check` is called afterwards,
 * because the host may have changed during the copy; if it throws, the copy is deleted.
 */
export async function copyForSession(
  core: Core,
  fork: SessionFork | undefined,
  summary: ChatSummary,
  check: () => void,
): Promise<Channel<'chat'> | undefined> {
  if (!fork) return undefined
  const source = core.log.channel(fork.chat, 'chat')
  if (!source) throw AhpError.notFound('the source chat was disposed of')
  const provider = sessionOf(core, fork.chat)?.head.provider ?? ''
  if (!agentOf(core, provider)?.info.capabilities?.multipleChats?.fork)
    throw AhpError.invalidParams('createSession: this agent does not support forks')
  if (source.head.activeTurn?.id === fork.turnId)
    throw AhpError.invalidParams(
      'createSession: the source turn is in progress: wait for its end, or cancel it',
    )
  const copied = await copyTurns(core, source, fork.turnId, firstState(summary))
  try {
    check()
    return copied
  } catch (error) {
    forgetCopy(core, copied.uri)
    throw error
  }
}
