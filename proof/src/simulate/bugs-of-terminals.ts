import { bug } from './bug.ts'
import type { Bug } from './bug.ts'

/** What could go wrong with shells, and with who holds them. */
export const terminalBugs: readonly Bug[] = [
  bug('a shell before its terminal is durable', 'terminal/terminal', 'await core.log.reached(born);', ''),
  bug('a shell that runs is no open work', 'terminal/terminal', 'core.jobs.mark(uri, true);', ''),
  bug('a shell goes on after a restart', 'recovery', 'endShell(core, channel);', ';'),
  bug('the list of terminals does not follow', 'root/terminal-list', '    list(core, terminal);\n}', '}'),
  bug(
    'a new terminal is not listed',
    'terminal/terminal',
    '    list(core, terminal);\n    const born',
    '    const born',
  ),
  bug('a terminal outlives its session', 'session/session', 'forgetTerminal(core, terminal);', ';'),
  bug(
    'what goes with a session is not kept',
    'core/session-resources',
    'this.#records.put(`${prefix}${uri}`, chat === undefined ? session : `${session}\\n${chat}`);',
    '',
  ),
  bug(
    'what was typed is typed again',
    'connection/handshake',
    '[...core.log.ephemeralOf(clientId), ...core.log.uncommittedOf(clientId)]',
    'core.log.uncommittedOf(clientId).filter(({ action }) => !action.includes("terminal/input"))',
  ),
]
