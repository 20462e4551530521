import type { Uri } from '@atrium/protocol/channel'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { agentOf, noAgent } from '../agents/agents.ts'
import type { Channel } from '../log/channel.ts'
import { elsewhere, failTurn } from '../chat/start-turn.ts'
import type { Core } from '../core/core.ts'
import type { Session } from '../ports/agent.ts'
import { TurnFailed, failureOf } from '../ports/agent.ts'
import type { Progress } from './progress.ts'
import { noProgress } from './progress.ts'
import { prepareWorktree } from '../worktrees/worktrees.ts'

/**
 * Lets the agent create a session. The session then becomes ready or failed. If the host crashes before that, its next start
 * creates the session again.
 */
export async function runCreation(
  core: Core,
  channel: Channel<'session'>,
  progress: Progress = noProgress,
): Promise<void> {
  if (core.log.channel(channel.uri) !== channel) return
  const { provider } = channel.head
  const abort = new AbortController()
  const job = {
    stop: () => {
      abort.abort()
      progress.end()
    },
  }
  core.jobs.begin(channel.uri, job)
  const { signal } = abort
  const report = (done: number, total: number, message: string) => progress.report(done, total, message)
  const failure =
    elsewhere(core, channel.uri) ??
    (await prepareWorktree(core, channel, { report, signal })) ??
    (await callAgent(core, provider, agentSession(channel, progress), signal))
  core.jobs.end(channel.uri, job)
  // The session may have been disposed of meanwhile.
  const exists = !abort.signal.aborted && core.log.channel(channel.uri) === channel
  if (exists && failure) fail(core, channel, failure)
  else if (exists) core.log.append(channel, { type: 'session/ready' })
  await core.log.reached(core.log.last)
  progress.end()
}

async function callAgent(
  core: Core,
  provider: string,
  session: Session,
  signal: AbortSignal,
): Promise<ErrorInfo | undefined> {
  const agent = agentOf(core, provider)
  if (!agent) return noAgent(provider)
  try {
    await agent.create?.(session, signal)
    return undefined
  } catch (error) {
    if (!(error instanceof TurnFailed)) core.world.report('session not created', error)
    return failureOf(error)
  }
}

/** Marks the session as failed and, in the same step, fails the turns that wait for the session. */
function fail(core: Core, channel: Channel<'session'>, error: ErrorInfo): void {
  core.log.append(channel, { type: 'session/creationFailed', error })
  for (const { resource } of channel.head.chats) failTurnOf(core, resource, error)
}

function failTurnOf(core: Core, uri: Uri, error: ErrorInfo): void {
  // A chat with an active turn is always in memory.
  const chat = core.log.channel(uri, 'chat')
  const turnId = chat?.head.activeTurn?.id
  if (chat && turnId !== undefined) failTurn(core, chat, turnId, error)
}

function agentSession(channel: Channel<'session'>, progress: Progress): Session {
  return {
    uri: channel.uri,
    get state() {
      return channel.committedState
    },
    progress: (done, total, message) => progress.report(done, total, message),
  }
}
