import { AhpError } from '@atrium/protocol/errors'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { compact } from '@atrium/protocol/update'
import { terminalUri } from '@atrium/protocol/uri'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { TurnFailed } from '../ports/agent.ts'
import type { Command, CommandOutcome } from '../ports/agent.ts'
import { plainText } from './plain-text.ts'
import { isIn } from '../access/roots.ts'
import type { ShellJob } from './shell-job.ts'
import { openTerminal, portOf } from './terminal.ts'

/** The turn that a command is run for. */
interface CallingTurn {
  readonly session: Channel<'session'>
  readonly chat: Channel<'chat'>
  readonly turnId: string
  /** Aborted when it is over. */
  readonly signal: AbortSignal
}

/** Runs a line in the session's first directory, in a terminal that the tool call holds. */
export async function execute(
  core: Core,
  { session, chat, turnId, signal }: CallingTurn,
  { toolCallId, line, cwd }: Command,
): Promise<{ terminal: Channel<'terminal'>; screen: ShellJob }> {
  const claim = { kind: 'session', session: session.uri, chat: chat.uri, turnId, toolCallId } as const
  try {
    const size = { cols: 120, rows: 30 }
    const opening = {
      claim,
      title: 'Terminal',
      directory: cwd === undefined ? directoryOf(core, session, chat) : directoryWithin(session, cwd),
      ...size,
    }
    const { terminal, screen, start } = openTerminal(core, terminalUri(core.world.id()), {
      ...opening,
      command: line,
    })
    // Also while the terminal is made: what was not begun then is not begun any more.
    const stop = () => void screen.stop()
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    await start(portOf(core))
    return { terminal, screen }
  } catch (error) {
    // Its words are meant for people.
    throw error instanceof AhpError ? new TurnFailed('terminal', error.message) : error
  }
}

export function commandOutcome({ head }: Channel): CommandOutcome {
  const { content, lifecycle } = head as TerminalState
  const text = content.map((part) => (part.type === 'unclassified' ? part.value : '')).join('')
  return compact<CommandOutcome>({
    exitCode: lifecycle.status === 'exited' ? lifecycle.exitCode : undefined,
    output: plainText(text),
    truncated: false,
    ended: lifecycle.status === 'exited',
  })
}

/** A shell may go anywhere; where it begins is what people are shown. */
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
  const uri = own[0] ?? shared[0] ?? core.defaultDirectory
  const named = uri === undefined ? undefined : pathOf(uri)
  return named?.ok ? named.path : '/'
}
