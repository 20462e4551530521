import { ownersOf } from '../../catalog/owners.ts'
import { customizationsOf } from '../../catalog/customizing.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { callIn } from '@atrium/protocol/chat/calls'
import { commentingOf } from '../../catalog/commenting.ts'
import { telemetryOf } from '../telemetry/key.ts'
import { shellAgent } from '../agents/shell-agent.ts'
import { backgroundOf } from '../background/background.ts'
import { canvasesOf } from '../canvas/canvases.ts'
import { tokenFor } from '../auth/declared.ts'
import { cursorBefore } from '../../channels/cursor.ts'
import { turnsBefore } from '../../channels/history.ts'
import type { Chat, Command, EndedCall, RunningCommand, Task, Worker } from '../../ports/agent.ts'
import { TurnFailed } from '../../ports/agent.ts'
import { keepBytes, named } from '../../channels/content/content.ts'
import { execute, commandOutcome } from '../terminal/execute.ts'
import { unapproved } from '../tools/approval.ts'
import type { FileAccess } from '../tools/approval.ts'
import { instructionFiles } from '../tools/instructions.ts'
import { clientSources, offeredTools, serverLabel } from '../tools/offered-tools.ts'
import type { ToolSource } from '../tools/offered-tools.ts'
import { toolFiles } from '../tools/tool-files.ts'
import { requireRunning, turnEnded, when } from './running-turn.ts'
import type { RunningTurn } from './running-turn.ts'
import { runServerCall } from './server-call.ts'
import { customizedBy } from '../../plugins/customized.ts'
import { notCustomized } from '../../ports/customized.ts'
import type { Customized } from '../../ports/customized.ts'
import { readAttachment } from './attachment.ts'

/** The `Chat` that an agent is given for a turn. After the end of the turn its operations reject, and `token` is undefined. */
export function agentChat(turn: RunningTurn): Chat {
  const { core, session, chat, agent, previews, signal } = turn
  return {
    uri: chat.uri,
    turnId: turn.turnId,
    get traceparent() {
      return telemetryOf(core)?.spans.traceparent(chat.uri, turn.turnId)
    },
    get state() {
      return chat.committedState
    },
    get session() {
      return session.committedState
    },
    sessionUri: session.uri,
    when: (condition) => when(turn, chat, condition),
    settled: () => settled(turn),
    spawn: (task) => spawnWorker(turn, task),
    run: (command) => runCommand(turn, command),
    files: toolFiles({
      core,
      session,
      chat,
      previews,
      requireApproval: (toolCallId, access) => requireApproval(turn, toolCallId, access),
    }),
    comments: commentingOf(turn.core).forAgent({
      core,
      session,
      chat,
      agent,
      turnId: turn.turnId,
      requireRunning: () => requireRunning(turn),
    }),
    tools: {
      list: () =>
        offeredTools([...clientSources(session.committedState), ...serverSources(turn)], ownTools(turn)),
      ended: (toolCallId) => callEnded(turn, toolCallId),
    },
    customized: () => customized(turn),
    instructions: async () => {
      requireRunning(turn)
      const files = await instructionFiles({ core, session, chat })
      requireRunning(turn)
      return files
    },
    before: async (turnId) => {
      requireRunning(turn)
      return (await turnsBefore(core, chat, { cursor: cursorBefore({ id: turnId }) })).turns
    },
    keep: async (bytes, contentType, file) => {
      requireRunning(turn)
      const kept = await keepBytes(core, session.uri, bytes, contentType)
      return file === undefined ? kept : named(kept, file)
    },
    read: async (attachment) => {
      requireRunning(turn)
      return readAttachment(core, ownersOf(core).of(session.uri), attachment)
    },
    token: (resource) => (signal.aborted ? undefined : tokenFor(core, { chat, session, agent }, resource)),
  }
}

/**
 * The names of the tools that an offered tool must not have: those of the agent of this turn, and those of the
 * session's agent.
 */
function ownTools({ agent, session }: RunningTurn): readonly string[] {
  return [...(agent.tools ?? []), ...(session.committedState.serverTools ?? [])].map(({ name }) => name)
}

/** The MCP servers that the host runs for the session, as sources of tools. */
function serverSources({ core, session }: RunningTurn): readonly ToolSource[] {
  return (customizationsOf(core)?.tools(session.uri) ?? []).map(({ id, name, tools }) => ({
    contributor: { kind: 'mcp', customizationId: id },
    label: name,
    tools,
  }))
}

async function callEnded(turn: RunningTurn, toolCallId: string): Promise<EndedCall> {
  const { core, session, chat } = turn
  await turn.core.log.reached(core.log.last)
  const contributor = callIn(chat.head, toolCallId)?.contributor
  const id = contributor?.kind === 'mcp' ? contributor.customizationId : undefined
  const server = id === undefined ? undefined : customizationsOf(core)?.server(session.uri, id)
  const name = core.parts
    .get(customizationsOf)
    ?.tools(session.uri)
    .find((each) => each.id === id)?.name
  if (server) await runServerCall(turn, toolCallId, { server, label: serverLabel(name ?? '') })
  let ended: EndedCall | undefined
  await when(turn, turn.chat, (state) => {
    const call = callIn(state, toolCallId)
    ended = call?.status === 'completed' || call?.status === 'cancelled' ? call : undefined
    return ended !== undefined
  })
  if (!ended) throw turnEnded()
  return ended
}

async function customized(turn: RunningTurn): Promise<Customized> {
  requireRunning(turn)
  const { core, session, chat } = turn
  const components = (await customizationsOf(core)?.components(session.uri)) ?? []
  requireRunning(turn)
  const { activeTurn } = chat.committedState
  const given = activeTurn ? customizedBy(components, activeTurn.message) : notCustomized
  return { ...given, context: turn.hookContext() }
}

async function settled(turn: RunningTurn): Promise<void> {
  requireRunning(turn)
  await turn.publishRest()
  requireRunning(turn)
  turn.flushText()
  await turn.core.log.reached(turn.core.log.last)
  requireRunning(turn)
}

function spawnWorker(turn: RunningTurn, task: Task): Worker {
  requireRunning(turn)
  turn.flushText()
  const { worker, turnId } = turn.spawn(turn.core, turn.chat, task)
  const done = when(turn, worker, ({ turns }) => turns.some(({ id }) => id === turnId))
  return { chat: worker.uri, done }
}

async function runCommand(turn: RunningTurn, command: Command): Promise<RunningCommand> {
  requireRunning(turn)
  await turn.publishRest()
  turn.flushText()
  const { core, session, chat, turnId, signal } = turn
  await requireApproval(turn, command.toolCallId)
  // The session may have been disposed of during the wait for the approval. A new terminal would outlive it (Y7).
  requireRunning(turn)
  const caller = { session, chat, turnId, signal }
  const { terminal, job, outlive } = await execute(core, caller, command).catch((error: unknown) => {
    throw signal.aborted ? turnEnded() : error
  })
  canvasesOf(core)?.follow(chat.uri, { terminal, command: command.line, ended: job.ended })
  // A call may ask for confirmation again while its command runs. If the user then denies it, the command is ended.
  when(turn, chat, (state) => isDecided(callIn(state, command.toolCallId))).then(
    (state) => callIn(state, command.toolCallId)?.status === 'cancelled' && void job.stop(),
    () => {},
  )
  const done = job.ended.then(() => {
    requireRunning(turn)
    return commandOutcome(terminal, job)
  })
  // Agents need not await `done`: its rejection must not crash the host.
  done.catch(() => {})
  return {
    terminal: terminal.uri,
    done,
    soFar: () => commandOutcome(terminal, job),
    end: () => job.stop(),
    leave: async () => {
      requireRunning(turn)
      outlive()
      const { line } = command
      backgroundOf(core).leave(chat, { terminal: terminal.uri, command: line, ended: job.ended })
      await Promise.race([job.ended, new Promise<void>((resolve) => void core.world.later(leaveMs, resolve))])
      return commandOutcome(terminal, job)
    },
  }
}

/**
 * Throws unless a tool call is approved (I7). Waits first until the actions of the call are committed, so that clients see the
 * call before it does anything. The shell agent needs no approval: the user typed its command line.
 */
async function requireApproval(turn: RunningTurn, toolCallId: string, access?: FileAccess): Promise<void> {
  const { core, chat, agent } = turn
  await core.log.reached(core.log.last)
  requireRunning(turn)
  const reason = agent === shellAgent ? undefined : unapproved(chat, toolCallId, access)
  if (reason !== undefined) throw new TurnFailed('permission', reason)
  const captured = changesOf(core)?.ready(chat.uri)
  if (!captured) return
  await captured
  requireRunning(turn)
}

/** The milliseconds in which a command that is left shows how it begins. */
const leaveMs = 2000

function isDecided(call: ToolCallState | undefined): boolean {
  return call === undefined || call.status === 'cancelled' || call.status === 'completed'
}
