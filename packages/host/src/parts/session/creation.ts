import { ownersOf } from '../../catalog/owners.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import { tokensOf } from '../auth/tokens.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { compact } from '@atrium/protocol/update'
import { wakeIfSound } from '../../channels/wake.ts'
import { agentOf, noAgent, setAgents } from '../agents/agents.ts'
import { notifySession } from '../auth/notices.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { elsewhere, failTurn } from '../chat/start-turn.ts'
import type { Core } from '../../kernel/core.ts'
import type { Session } from '../../ports/agent.ts'
import { SignInRequired, TurnFailed, failureOf } from '../../ports/agent.ts'
import { missingFolder } from './missing-folder.ts'
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
    (await missingFolder(core, channel)) ??
    (await callAgent(core, provider, channel, { progress, signal }))
  core.jobs.end(channel.uri, job)
  // The session may have been disposed of meanwhile.
  const exists = !abort.signal.aborted && core.log.channel(channel.uri) === channel
  if (exists && failure) fail(core, channel, failure)
  else if (exists) core.log.append(channel, { type: 'session/ready' })
  await core.log.reached(core.log.last)
  progress.end()
}

interface Creation {
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** Lets the agent create the session. If it needs a sign-in, asks for one, and goes on after it. */
async function callAgent(
  core: Core,
  provider: string,
  channel: Channel<'session'>,
  { progress, signal }: Creation,
): Promise<ErrorInfo | undefined> {
  const agent = agentOf(core, provider)
  if (!agent) return noAgent(provider)
  try {
    await agent.create?.(agentSession(core, channel, progress), signal)
    // The agent may have learned its models and settings.
    setAgents(core)
    return undefined
  } catch (error) {
    if (signal.aborted) return undefined
    if (!(error instanceof TurnFailed)) core.world.report('session not created', error)
    if (!(error instanceof SignInRequired) || error.resources.length === 0 || signal.aborted)
      return failureOf(error)
    await signInFor(core, channel, error, signal)
    return signal.aborted ? undefined : callAgent(core, provider, channel, { progress, signal })
  }
}

/** Shows in the state of the session that it waits for a sign-in. Resolves after the sign-in. */
async function signInFor(
  core: Core,
  channel: Channel<'session'>,
  { message, resources, reason }: SignInRequired,
  signal: AbortSignal,
): Promise<void> {
  const signedIn = tokensOf(core).whenSignedIn(ownersOf(core).of(channel.uri), resources, signal)
  await showActivity(core, channel, message)
  notifySession(core, channel, ...resources.map((resource) => ({ resource, reason })))
  await signedIn
  await showActivity(core, channel, undefined)
}

/** Shows what a session does. The activity of a session is that of its chat. */
async function showActivity(
  core: Core,
  { uri, head }: Channel<'session'>,
  activity: string | undefined,
): Promise<void> {
  const chat = await wakeIfSound(core, head.defaultChat ?? '')
  if (!chat?.is('chat') || !core.log.channel(uri)) return
  const { last } = core.log.append(chat, compact<ChatAction>({ type: 'chat/activityChanged', activity }))
  await core.log.reached(last)
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

function agentSession(core: Core, channel: Channel<'session'>, progress: Progress): Session {
  return {
    uri: channel.uri,
    get inAdvance() {
      return catalogOf(core).creatorOf(channel.uri) !== undefined
    },
    token: (resource) => tokensOf(core).of(ownersOf(core).of(channel.uri), resource),
    get state() {
      return channel.committedState
    },
    progress: (done, total, message) => progress.report(done, total, message),
  }
}
