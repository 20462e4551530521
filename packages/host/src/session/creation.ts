import type { Uri } from '@atrium/protocol/channel'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { agentOf, noAgent } from '../agents/agents.ts'
import type { Channel } from '../log/channel.ts'
import { failTurn } from '../chat/chat.ts'
import type { Core } from '../core/core.ts'
import type { Session } from '../ports/agent.ts'
import { TurnFailed, failureOf } from '../ports/agent.ts'
import type { Progress } from './progress.ts'
import { noProgress } from './progress.ts'

/** An agent makes a session ready, or it fails. Nothing is remembered of it: where the host dies, it is done again. */
export async function create(
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
      // Nobody waits for it any more.
      progress.end()
    },
  }
  core.jobs.begin(channel.uri, job)
  const outcome = await attempt(core, provider, sessionOf(channel, progress), abort.signal)
  core.jobs.end(channel.uri, job)
  // It may have been disposed of meanwhile.
  const wanted = !abort.signal.aborted && core.log.channel(channel.uri) === channel
  if (wanted && outcome) fail(core, channel, outcome)
  else if (wanted) core.log.append(channel, { type: 'session/ready' })
  await core.log.reached(core.log.last)
  progress.end()
}

async function attempt(
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

/** A turn that waited for the session ends with it, in the same step. */
function fail(core: Core, channel: Channel<'session'>, error: ErrorInfo): void {
  core.log.append(channel, { type: 'session/creationFailed', error })
  for (const { resource } of channel.head.chats) failTurnOf(core, resource, error)
}

function failTurnOf(core: Core, uri: Uri, error: ErrorInfo): void {
  // A chat with a turn that is not over is awake.
  const chat = core.log.channel(uri, 'chat')
  const turnId = chat?.head.activeTurn?.id
  if (chat && turnId !== undefined) failTurn(core, chat, turnId, error)
}

function sessionOf(channel: Channel<'session'>, progress: Progress): Session {
  return {
    uri: channel.uri,
    get state() {
      return channel.committedState
    },
    progress: (done, total, message) => progress.say(done, total, message),
  }
}
