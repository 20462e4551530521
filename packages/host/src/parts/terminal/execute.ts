import { AhpError } from '@atrium/protocol/errors'
import { compact } from '@atrium/protocol/update'
import type { TerminalContentPart } from '@atrium/protocol/terminal/state'
import { terminalUri } from '@atrium/protocol/uri'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { Command, CommandOutcome } from '../../ports/agent.ts'
import { plainText } from './plain-text.ts'
import { isIn } from '../access/roots.ts'
import type { ShellJob } from './shell-job.ts'
import { openTerminal, portOf } from './terminal.ts'

/** The turn that runs a command. */
interface CallingTurn {
  readonly session: Channel<'session'>
  readonly chat: Channel<'chat'>
  readonly turnId: string
  /** Aborted when the turn is over. */
  readonly signal: AbortSignal
}

interface StartedCommand {
  readonly terminal: Channel<'terminal'>
  readonly job: ShellJob
  /** From now on the command does not end with the turn. */
  outlive(): void
}

/** Runs a shell command in a new terminal that the tool call holds. */
export async function execute(
  core: Core,
  { session, chat, turnId, signal }: CallingTurn,
  { toolCallId, line, cwd }: Command,
): Promise<StartedCommand> {
  const claim = { kind: 'session', session: session.uri, chat: chat.uri, turnId, toolCallId } as const
  try {
    const size = { cols: 120, rows: 30 }
    const opening = {
      claim,
      title: 'Terminal',
      directory: cwd === undefined ? directoryOf(core, session, chat) : directoryWithin(session, cwd),
      ...size,
    }
    const { terminal, job, start } = openTerminal(core, terminalUri(core.world.id()), {
      ...opening,
      command: line,
    })
    // The listener is added before the shell starts: if the turn ends while the terminal is created, the shell must not
    // start.
    const stop = () => void job.stop()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    await start(portOf(core))
    return { terminal, job, outlive: () => signal.removeEventListener('abort', stop) }
  } catch (error) {
    // The message of an `AhpError` is written for users, so the turn may show it.
    throw error instanceof AhpError ? new TurnFailed('terminal', error.message) : error
  }
}

export function commandOutcome({ head }: Channel<'terminal'>, job: ShellJob): CommandOutcome {
  const { content, lifecycle } = head
  const text = content.map((part) => outputOf(part)).join('')
  return compact<CommandOutcome>({
    exitCode: lifecycle.status === 'exited' ? lifecycle.exitCode : undefined,
    output: plainText(text),
    truncated: text.length < job.outputLength,
    ended: lifecycle.status === 'exited',
  })
}

/** Returns the output in a part of a terminal. A program that prints marks makes parts of the type `command` (M6). */
export function outputOf(part: TerminalContentPart): string {
  if (part.type === 'unclassified') return part.value
  return part.type === 'command' ? part.output : ''
}

/**
 * Returns the directory in which a command starts. Throws if it is outside the directories of the session. The user is shown
 * this directory. The command itself may change to any other directory.
 */
function directoryWithin(session: Channel<'session'>, cwd: string): string {
  const named = pathOf(fileUri(cwd))
  const roots = session.head.workingDirectories ?? []
  const isThere = (uri: string) => {
    const root = pathOf(uri)
    return named.ok && root.ok && isIn(named.path, root.path)
  }
  if (!named.ok || !roots.some(isThere))
    throw new TurnFailed('terminal', `${JSON.stringify(cwd.slice(0, 200))} is in no folder of this session`)
  return named.path
}

function directoryOf(core: Core, session: Channel<'session'>, chat: Channel<'chat'>): string {
  const own = chat.head.workingDirectories ?? []
  const shared = session.head.workingDirectories ?? []
  const uri = own[0] ?? shared[0] ?? core.about.defaultDirectory
  const named = uri === undefined ? undefined : pathOf(uri)
  return named?.ok ? named.path : '/'
}
